// The reply of an HTTP handler as a record, on the side of the engine (record-layout.ts).

import { asRawJson, type RawJson, rawJson } from '../json/byte-string.ts';
import { type PackedForm, Payload } from '../payload/payload.ts';
import { REPLY_BODY_IS_TEXT, REPLY_HEADER_BYTES } from './record-layout.ts';
import { objectText } from './request-text.ts';

export interface ReplyRecord {
  readonly status: number;
  /** Names and values in turn, each followed by a line feed. */
  readonly headers: string;
  /** In memory of its own, and unchecked. */
  readonly body: Buffer;
  readonly bodyIsText: boolean;
}

export const replyForm: PackedForm = {
  name: 'reply',
  /** The object that the handler returned, as far as the record holds it. */
  textOf(bytes, start, end) {
    const reply = readReply(bytes, start, end);
    return reply && replyText(reply);
  },
  isLongerThan: (bytes, start, end, bytesMax) => (replyForm.textOf(bytes, start, end)?.length ?? 0) > bytesMax,
  offenceOf: (bytes, start, end) => (replyForm.textOf(bytes, start, end) === undefined ? UNREADABLE : undefined),
};

const UNREADABLE = 'a reply whose lengths or body cannot be read';

/** `undefined` if it is no record. */
export function readReply(bytes: Buffer, start: number, end: number): ReplyRecord | undefined {
  if (end - start < REPLY_HEADER_BYTES) return undefined;
  const headersStart = start + REPLY_HEADER_BYTES;
  const bodyStart = headersStart + bytes.readUInt32LE(start + 4);
  if (bodyStart > end) return undefined;
  const bodyIsText = (bytes.readUInt16LE(start + 2) & REPLY_BODY_IS_TEXT) !== 0;
  const body = Buffer.from(bytes.subarray(bodyStart, end));
  const headers = headersStart === bodyStart ? '' : bytes.toString('utf8', headersStart, bodyStart);
  return { status: bytes.readUInt16LE(start), headers, body, bodyIsText };
}

/** The record of a payload in this form. */
export function replyOf(payload: Payload): ReplyRecord | undefined {
  return payload.visitPacked(readReply);
}

export function replyHeaderPairs(headers: string): [string, string][] {
  const parts = headers.split('\n');
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) pairs.push([parts[at] ?? '', parts[at + 1] ?? '']);
  return pairs;
}

/** By name; a repeated one has a list. */
function headersOf(lines: string): Map<string, string | string[]> {
  const headers = new Map<string, string | string[]>();
  for (const [name, value] of replyHeaderPairs(lines)) {
    const known = headers.get(name);
    if (known === undefined) headers.set(name, value);
    else if (typeof known === 'string') headers.set(name, [known, value]);
    else known.push(value);
  }
  return headers;
}

/** `undefined` if the body is to be JSON, and is none. */
function replyText({ status, headers, body, bodyIsText }: ReplyRecord): RawJson | undefined {
  const lines = headers === '' ? '' : `,"headers":${objectText(headersOf(headers))}`;
  const head = `{"status_code":${status}${lines}`;
  if (bodyIsText) return asRawJson(`${head},"body":${rawJson(body.toString('utf8'))}}`);
  if (body.length === 0) return asRawJson(`${head}}`);
  const text = Payload.ofBytes(body, 0, body.length).asText();
  return text && asRawJson(`${head},"body":${text}}`);
}
