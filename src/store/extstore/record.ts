// A value as it lies in Redis: the name of the write that put it there, a blank, and the JSON as it came. The name is
// that of an engine, the number of its write and the time of it, with points between.
//
// No two writes have one name, whichever engine made them. So whoever compares the name and then writes knows that
// nothing happened in between, deleting and writing the same again included.

import { Refusal } from '../../core/refusal.ts';

export interface StoredValue {
  /** Of the write; `MISSING` where there is no value. */
  readonly tag: string;
  readonly json: Buffer | undefined;
  readonly writtenMs?: number | undefined;
}

export const MISSING = '';
/** In place of a tag: write whatever is there. */
export const WHATEVER = '*';

export function sealValue(tag: string, json: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${tag} `), json]);
}

/** `stored`: what Redis answered. */
export function openValue(stored: unknown): StoredValue {
  if (stored === null) return NOTHING;
  const bytes = bytesIn(stored);
  const end = bytes.indexOf(BLANK);
  if (end <= 0) throw corrupt('a value without the name of its write');
  const tag = bytes.toString('latin1', 0, end);
  return { tag, json: bytes.subarray(end + 1), writtenMs: timeIn(tag) };
}

function timeIn(tag: string): number | undefined {
  const [, , time = ''] = tag.split('.');
  const writtenMs = Number.parseInt(time, 36);
  return Number.isSafeInteger(writtenMs) ? writtenMs : undefined;
}

export function listIn(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply;
  throw corrupt('no list where one belongs');
}

export function bytesIn(reply: unknown): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  throw corrupt('no text where one belongs');
}

export function textIn(reply: unknown): string {
  return bytesIn(reply).toString('utf8');
}

/** Somebody else has written under our keys. */
export function corrupt(what: string): Refusal {
  return new Refusal('STORAGE_CORRUPT', `The Redis of this store holds ${what}; it is left as it is`);
}

/** Names for the writes of one engine. */
export function tagMaker(uuid: string, nowMs: () => number): () => string {
  let writes = 0;
  return () => `${uuid}.${(++writes).toString(36)}.${nowMs().toString(36)}`;
}

const NOTHING: StoredValue = { tag: MISSING, json: undefined };
const BLANK = 0x20;
