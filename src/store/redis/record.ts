// A value as it lies in Redis: the name of the write that put it there, a space, and the JSON as it was sent. The name
// consists of the engine, the number of the write and its time, with dots between them.
//
// No two writes have the same name, in any engine. So a caller that compares the name and then writes knows that
// nothing happened in between, including a delete and the same write again.

import { Refusal } from '../../core/calls/refusal.ts';

export interface StoredValue {
  /** The name of the write; `MISSING` if there is no value. */
  readonly tag: string;
  readonly json: Buffer | undefined;
  readonly writtenMs?: number | undefined;
}

export const MISSING = '';
/** In place of a tag: write regardless of the present value. */
export const ANY_TAG = '*';

export function sealValue(tag: string, json: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${tag} `), json]);
}

/** `stored`: the answer of Redis. */
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
  throw corrupt('something other than a list');
}

export function bytesIn(reply: unknown): Buffer {
  if (Buffer.isBuffer(reply)) return reply;
  throw corrupt('something other than text');
}

export function textIn(reply: unknown): string {
  return bytesIn(reply).toString('utf8');
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value)) return value;
  throw corrupt('something other than a number');
}

/** The first lines, and what follows them. */
export function linesOf(bytes: Buffer, count: number): { readonly lines: readonly string[]; readonly rest: Buffer } {
  const lines: string[] = [];
  let at = 0;
  while (lines.length < count) {
    const end = bytes.indexOf(LINE_FEED, at);
    if (end < 0) throw corrupt('a record without its lines');
    lines.push(bytes.toString('utf8', at, end));
    at = end + 1;
  }
  return { lines, rest: bytes.subarray(at) };
}

/** Another program has written under our keys. */
export function corrupt(what: string): Refusal {
  return new Refusal('STORAGE_CORRUPT', `The Redis of this store holds ${what}; it was not changed`);
}

/** Names for the writes of one engine. */
export function tagMaker(uuid: string, nowMs: () => number): () => string {
  let writes = 0;
  return () => `${uuid}.${(++writes).toString(36)}.${nowMs().toString(36)}`;
}

const NOTHING: StoredValue = { tag: MISSING, json: undefined };
const BLANK = 0x20;
const LINE_FEED = 0x0a;
