// The subjects of streams: groups, items and pieces of JSON.

export interface GroupPlace {
  readonly stream: string;
  readonly group: string;
}

export interface ItemPlace extends GroupPlace {
  readonly item: string;
}

/** A whole group, or one item of it. */
export interface Subject extends GroupPlace {
  readonly item: string | undefined;
}

export interface FoundItem {
  readonly id: string;
  /** JSON; may be a view of the store's memory. */
  readonly data: Uint8Array;
}

/** An object of JSON texts, as JSON. */
export function members(values: Readonly<Record<string, Uint8Array>>): Buffer {
  const parts = Object.entries(values).flatMap(([name, value], index) => [
    Buffer.from(`${index === 0 ? '{' : ','}"${name}":`),
    value,
  ]);
  return Buffer.concat([...parts, CLOSE]);
}

export function jsonText(value: string | number | boolean | readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export const NULL = Buffer.from('null');
const CLOSE = Buffer.from('}');
