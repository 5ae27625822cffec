// Small records of the queues as JSON, checked when they are read.

export function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export function parseAs<T>(bytes: Uint8Array, isShape: (value: unknown) => value is T): T {
  const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
  if (!isShape(value)) throw new Error('A record of a queue has an unknown shape');
  return value;
}
