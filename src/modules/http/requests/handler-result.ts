// The result of a handler as an HTTP answer (modules 5.4). A JSON result is sliced into its three fields; its body,
// which may be large, is passed on as text. Of a result that came as values only the body is serialised. Which of its
// headers reach the client, and in what form, is decided here, too (X14).

import { scanMembers } from '../../../protocol/frames/envelope.ts';
import { type ReplyRecord, replyHeaderPairs, replyOf } from '../../../protocol/http/reply-record.ts';
import {
  asByteString,
  asRawJson,
  type ByteString,
  byteStringToText,
  parseRawJson,
  RAW_NULL,
  type RawJson,
  rawJson,
  textToByteString,
} from '../../../protocol/json/byte-string.ts';
import type { Payload } from '../../../protocol/payload/payload.ts';
import { type HeaderLines, type HttpBody, isBodiless } from '../../../transport/http.ts';

export interface HandlerAnswer {
  readonly status: number;
  readonly headers: HeaderLines;
  /** `undefined`: the status allows no body. */
  readonly body: HttpBody | undefined;
}

export type ReadResult =
  | { readonly ok: true; readonly answer: HandlerAnswer }
  | { readonly ok: false; readonly reason: string };

export const NO_CONTENT: HandlerAnswer = { status: 204, headers: [], body: undefined };
const JSON_HEADERS: HeaderLines = ['content-type', 'application/json'];
const EMPTY_OBJECT = asByteString('{}');
const EMPTY = asByteString('');
const UNREADABLE = 'it is not JSON, or nested too deep';
const NO_OBJECT = 'it is not an object with status_code, headers or body';

/** Reads the result in any form; `undefined`: it is null. */
export function readHandlerPayload(result: Payload, acceptsAnything: boolean): ReadResult | undefined {
  if (result.form === 'reply') {
    const reply = replyOf(result);
    return reply === undefined ? bad(UNREADABLE) : readReplyRecord(reply);
  }
  if (result.form === 'compact') {
    const value = result.readPacked();
    if (value === undefined) return bad(UNREADABLE);
    return value === null ? undefined : readHandlerValue(value, acceptsAnything);
  }
  const text = result.asText();
  if (text === undefined) return bad(UNREADABLE);
  return text === RAW_NULL ? undefined : readHandlerResult(text, acceptsAnything);
}

/** `acceptsAnything`: a result without any of the fields is an empty answer, as in `iii` (PD-56). */
export function readHandlerResult(result: RawJson, acceptsAnything = false): ReadResult {
  const fields: { status?: RawJson; headers?: RawJson; body?: RawJson } = {};
  const offence = scanMembers(Buffer.from(result, 'latin1'), (keyStart, keyEnd, start, end) => {
    const key = result.slice(keyStart, keyEnd);
    if (key === 'status_code') fields.status = asRawJson(result.slice(start, end));
    else if (key === 'headers') fields.headers = asRawJson(result.slice(start, end));
    else if (key === 'body') fields.body = asRawJson(result.slice(start, end));
  });
  if (offence !== undefined && !acceptsAnything) return bad(NO_OBJECT);
  const { status, headers, body } = fields;
  if (status === undefined && headers === undefined && body === undefined) return without(acceptsAnything);
  return answerOf(status && parseRawJson(status), headers && parseRawJson(headers), (hasContentType) =>
    bodyOfText(body, hasContentType),
  );
}

/** The same for a result that was never text. */
export function readHandlerValue(result: unknown, acceptsAnything: boolean): ReadResult {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    return acceptsAnything ? without(true) : bad(NO_OBJECT);
  }
  const fields: { status_code?: unknown; headers?: unknown; body?: unknown } = result;
  const { status_code: status, headers, body } = fields;
  if (status === undefined && headers === undefined && body === undefined) return without(acceptsAnything);
  return answerOf(status, headers, (hasContentType) => bodyOfValue(body, hasContentType));
}

function answerOf(status: unknown, headers: unknown, bodyOf: (hasContentType: boolean) => ByteString): ReadResult {
  const code = status === undefined || status === null ? 200 : status;
  if (!isStatus(code)) {
    const found = byteStringToText(rawJson(status)).slice(0, 64);
    return bad(`status_code must be a whole number from 200 to 599, found ${found}`);
  }
  return answerWith(code, checkHeaders(headers), bodyOf);
}

function isStatus(status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599;
}

function answerWith(status: number, checked: HeaderCheck, bodyOf: (hasContentType: boolean) => HttpBody): ReadResult {
  if (!checked.ok) return bad(checked.reason);
  const { lines, contentType } = checked;
  if (isBodiless(status)) return { ok: true, answer: { status, headers: lines, body: undefined } };
  const hasContentType = contentType !== undefined;
  const own = hasContentType ? lines : lines.length === 0 ? JSON_HEADERS : [...JSON_HEADERS, ...lines];
  return { ok: true, answer: { status, headers: own, body: bodyOf(hasContentType) } };
}

/** The handler's SDK has written the body as it is sent. */
function readReplyRecord({ status, headers, body }: ReplyRecord): ReadResult {
  if (!isStatus(status)) return bad(`status_code must be a whole number from 200 to 599, found ${status}`);
  return answerWith(status, checkedLines(headers), () => body);
}

/** Headers that were checked before: most handlers answer with the same ones each time. */
const knownLines = new Map<string, HeaderCheck>();
const KNOWN_LINES_MAX = 256;
const KNOWN_CHARS_MAX = 512;

function checkedLines(headers: string): HeaderCheck {
  const known = knownLines.get(headers);
  if (known !== undefined) return known;
  const checked = checkPairs(replyHeaderPairs(headers));
  if (headers.length > KNOWN_CHARS_MAX) return checked;
  if (knownLines.size === KNOWN_LINES_MAX) knownLines.clear();
  knownLines.set(headers, checked);
  return checked;
}

/** A result with none of the fields. */
function without(isAccepted: boolean): ReadResult {
  if (!isAccepted) return bad('it has none of the fields status_code, headers and body');
  return { ok: true, answer: { status: 200, headers: JSON_HEADERS, body: EMPTY_OBJECT } };
}

/** With an explicit content type, text is sent as text and null as nothing; everything else is JSON. */
function bodyOfText(body: RawJson | undefined, hasContentType: boolean): ByteString {
  if (body === undefined) return EMPTY_OBJECT;
  if (!hasContentType) return body;
  if (body === 'null') return EMPTY;
  const value: unknown = body.startsWith('"') ? parseRawJson(body) : undefined;
  return typeof value === 'string' ? textToByteString(value) : body;
}

function bodyOfValue(body: unknown, hasContentType: boolean): ByteString {
  if (body === undefined) return EMPTY_OBJECT;
  if (hasContentType && body === null) return EMPTY;
  return hasContentType && typeof body === 'string' ? textToByteString(body) : rawJson(body);
}

function bad(reason: string): ReadResult {
  return { ok: false, reason };
}

type HeaderCheck =
  | { readonly ok: true; readonly lines: HeaderLines; readonly contentType: string | undefined }
  | { readonly ok: false; readonly reason: string };

const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Headers of the connection, which the transport sets. */
const DROPPED = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A map, or a list of `Name: value`; a value may be a list, for headers that are repeated. */
export function checkHeaders(headers: unknown): HeaderCheck {
  if (headers === undefined || headers === null) return { ok: true, lines: [], contentType: undefined };
  if (typeof headers !== 'object') return { ok: false, reason: 'headers is neither a map nor a list' };
  return checkPairs(Array.isArray(headers) ? headers.map(splitLine) : Object.entries(headers));
}

function checkPairs(pairs: Iterable<readonly [string, unknown]>): HeaderCheck {
  const lines: string[] = [];
  let contentType: string | undefined;
  for (const [given, value] of pairs) {
    if (!NAME.test(given)) return { ok: false, reason: `a header has the name ${JSON.stringify(given.slice(0, 64))}` };
    const name = given.toLowerCase();
    for (const item of Array.isArray(value) ? value : [value]) {
      const text = typeof item === 'number' || typeof item === 'boolean' ? String(item) : item;
      if (typeof text !== 'string') return { ok: false, reason: `the header ${given} has a value that is not text` };
      if (CONTROL.test(text)) return { ok: false, reason: `the header ${given} has a control character in its value` };
      if (DROPPED.has(name)) continue;
      if (name === 'content-type') contentType = text;
      lines.push(name, text.trim());
    }
  }
  return { ok: true, lines, contentType };
}

function splitLine(line: unknown): readonly [string, unknown] {
  if (typeof line !== 'string') return ['', line];
  const colon = line.indexOf(':');
  return colon < 0 ? ['', line] : [line.slice(0, colon), line.slice(colon + 1).trim()];
}
