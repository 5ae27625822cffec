// The keys of the records of streams, within their space (`../../kv/keys.ts`). The records of one stream, and of one
// group, are adjacent and sorted by name.
//
//   i stream group item    an item: its data as JSON
//   g stream group         the head of a group (`group-head.ts`)
//   h stream group seq     an event that was sent (`history.ts`)
//   d due stream group     a group whose history is trimmed at that time (`history.ts`)
//   f                      the first number of a new group (`group-head.ts`)
//
// `seq` and `due` are big-endian numbers in eight bytes. They may contain zero bytes; they are never split.

import { joinKey, type KeyRange, keysBelow, partsOf, SPACE } from '../../kv/keys.ts';

export const itemKey = (stream: string, group: string, item: string): Buffer => key('i', stream, group, item);
export const headKey = (stream: string, group: string): Buffer => key('g', stream, group);
export const eventKey = (stream: string, group: string, seq: number): Buffer =>
  joinKey(SPACE.streams, ...partsFor('h', stream, group), ordinal(seq));
export const dueKey = (dueMs: number, stream: string, group: string): Buffer =>
  joinKey(SPACE.streams, Buffer.from('d'), ordinal(dueMs), ...partsFor(stream, group));
export const floorKey = (): Buffer => key('f');

export const itemsOf = (stream: string, group: string): KeyRange => below('i', stream, group);
export const headsOf = (stream: string): KeyRange => below('g', stream);
export const allHeads = (): KeyRange => below('g');
export const duesUntil = (nowMs: number): KeyRange => ({
  start: below('d').start,
  end: joinKey(SPACE.streams, Buffer.from('d'), ordinal(nowMs + 1)),
});

/** The names in the key of an item or of a head. */
export function namesIn(found: Uint8Array): readonly string[] {
  const [, ...names] = partsOf(found);
  return names.map((name) => name.toString('utf8'));
}

/** The names in a due key. */
export function dueNames(found: Uint8Array): readonly string[] {
  // Space, kind and separator come first; the separator after the number begins the names.
  const numberEnd = duesUntil(0).start.length + ORDINAL_BYTES;
  const [, ...names] = partsOf(found.subarray(numberEnd - 1));
  return names.map((name) => name.toString('utf8'));
}

const ORDINAL_BYTES = 8;

function key(...parts: readonly string[]): Buffer {
  return joinKey(SPACE.streams, ...partsFor(...parts));
}

function below(...parts: readonly string[]): KeyRange {
  return keysBelow(SPACE.streams, ...partsFor(...parts));
}

function partsFor(...parts: readonly string[]): Buffer[] {
  return parts.map((part) => Buffer.from(part));
}

function ordinal(value: number): Buffer {
  const bytes = Buffer.alloc(ORDINAL_BYTES);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
