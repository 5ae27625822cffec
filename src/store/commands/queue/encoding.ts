// Small records as JSON, checked when they are read; and a JSON head followed by bytes: the form in which jobs travel
// between the module and its store, with payloads untouched.

export function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export function parseAs<T>(bytes: Uint8Array, isShape: (value: unknown) => value is T): T {
  const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  if (!isShape(value)) throw new Error('A record of a queue has an unknown shape');
  return value;
}

export interface Framed {
  readonly head: unknown;
  readonly body: Buffer;
}

export function encodeFramed(head: unknown, ...parts: readonly Uint8Array[]): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json, ...parts]);
}

/** Views of the bytes. */
export function decodeFramed(bytes: Uint8Array): Framed {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = 4 + all.readUInt32LE(0);
  return { head: JSON.parse(all.toString('utf8', 4, end)), body: all.subarray(end) };
}
