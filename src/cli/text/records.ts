// Reads answers of the engine without trusting their form: another version of the engine, or a worker's function of the
// same name, may answer with anything.

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The records in the list in this field; other values are left out. */
export function recordsIn(answer: unknown, field: string): JsonRecord[] {
  const list = isRecord(answer) ? answer[field] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

/** The text or number in this field as text; empty when there is none. */
export function textIn(record: JsonRecord, field: string): string {
  const value = record[field];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

export function numberIn(record: JsonRecord, field: string): number | undefined {
  const value = record[field];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function textsIn(record: JsonRecord, field: string): string[] {
  const value = record[field];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
