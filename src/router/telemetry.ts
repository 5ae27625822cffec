// Binary frames with a four-letter prefix carry OTLP telemetry of workers. Until an observability module takes
// them they are counted and dropped, which the wire allows while observability is off (1.11).

const PREFIXES = ['OTLP', 'MTRC', 'LOGS'];

/** Where it is told what happened. */
export interface Counting {
  count(name: string, reason: string): void;
}

/** Takes the frame if it is telemetry. */
export function takeTelemetry(counts: Counting, bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false;
  const prefix = String.fromCharCode(bytes[0] ?? 0, bytes[1] ?? 0, bytes[2] ?? 0, bytes[3] ?? 0);
  if (!PREFIXES.includes(prefix)) return false;
  counts.count('telemetry.dropped', 'observability_off');
  return true;
}
