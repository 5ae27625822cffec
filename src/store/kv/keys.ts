// The owners of the keys of a store, and how names become keys.
//
// The first byte of a key names its owner, so that modules that share a directory never collide. The parts follow,
// joined by a zero byte. Names have no control characters (guarantees 4), so no name contains a zero byte, and keys
// sort by their parts.

import { Buffer } from 'node:buffer';

/** One byte for each owner. It never changes, because it is on disks. Most owners have a file `keys.ts`. */
export const SPACE = {
  store: 0x6d,
  state: 0x73,
  streams: 0x74,
  cron: 0x63,
  triggers: 0x67,
  queues: 0x71,
  observed: 0x6f,
  outbox: 0x78,
  reservations: 0x72,
  setAside: 0x64,
  secrets: 0x6b,
} as const;

export type Space = (typeof SPACE)[keyof typeof SPACE];

const SEPARATOR = 0;
const BEHIND_SEPARATOR = 1;

export function joinKey(space: Space, ...parts: readonly Uint8Array[]): Buffer {
  return join(space, parts, 0);
}

export interface KeyRange {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** Every key that begins with these parts and has another one; without parts, all keys of that owner. */
export function keysBelow(space: Space, ...parts: readonly Uint8Array[]): KeyRange {
  if (parts.length === 0) return { start: Buffer.of(space), end: Buffer.of(space + 1) };
  const start = join(space, parts, 1);
  start[start.length - 1] = SEPARATOR;
  const end = Buffer.from(start);
  end[end.length - 1] = BEHIND_SEPARATOR;
  return { start, end };
}

/** The parts of a key, views of it. */
export function partsOf(key: Uint8Array): Buffer[] {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  const parts: Buffer[] = [];
  let at = 1;
  for (let end = bytes.indexOf(SEPARATOR, at); end >= 0; end = bytes.indexOf(SEPARATOR, at)) {
    parts.push(bytes.subarray(at, end));
    at = end + 1;
  }
  parts.push(bytes.subarray(at));
  return parts;
}

/** `extra`: how many bytes to leave after the last part. */
function join(space: Space, parts: readonly Uint8Array[], extra: number): Buffer {
  let length = Math.max(parts.length, 1) + extra;
  for (const part of parts) length += part.length;
  const key = Buffer.allocUnsafe(length);
  key[0] = space;
  let at = 1;
  for (let index = 0; index < parts.length; index++) {
    if (index > 0) key[at++] = SEPARATOR;
    const part = parts[index];
    if (part === undefined) continue;
    key.set(part, at);
    at += part.length;
  }
  return key;
}
