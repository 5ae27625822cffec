// The reply of an HTTP handler as a record (protocol/http/record-layout.ts), on the side of the SDK.

import { REPLY_BODY_IS_TEXT, REPLY_HEADER_BYTES } from '../../protocol/http/record-layout.ts';
import { isRecord } from '../../protocol/json/record.ts';

/** A reply that waits to be written. */
export class EncodedReply {
  readonly status: number;
  /** Names and values in turn, each followed by a line feed. */
  readonly headers: string;
  readonly body: string;
  readonly flags: number;

  constructor(status: number, headers: string, body: string, flags: number) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.flags = flags;
  }

  /** Approximately, as that of a text is: in units. */
  get length(): number {
    return REPLY_HEADER_BYTES + this.headers.length + this.body.length;
  }
}

/**
 * The record of what a handler returned. Undefined if it is in no form that a record can have: then it is sent as any
 * other result, and the engine says what is wrong with it. Throws what JSON.stringify throws.
 */
export function encodeReply(result: unknown): EncodedReply | undefined {
  if (!isPlain(result)) return undefined;
  const { status_code: status = 200, headers, body } = result;
  if (typeof status !== 'number' || (status & STATUS_MASK) !== status) return undefined;
  if (headers === undefined && body === undefined && result.status_code === undefined) return undefined;
  const lines = headers === undefined ? '' : headerLines(headers);
  if (lines === undefined) return undefined;
  if (typeof body === 'string' && CONTENT_TYPE.test(lines)) {
    return new EncodedReply(status, lines, body, REPLY_BODY_IS_TEXT);
  }
  if (body === null && CONTENT_TYPE.test(lines)) return new EncodedReply(status, lines, '', REPLY_BODY_IS_TEXT);
  // Its type is always string, but JSON.stringify returns undefined for values that JSON cannot express.
  const json: string | undefined = body === undefined ? '{}' : JSON.stringify(body);
  return json === undefined ? undefined : new EncodedReply(status, lines, json, 0);
}

/** An object whose members are what JSON would write of it. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype && value.toJSON === undefined;
}

const STATUS_MASK = 0x3ff;
const CONTENT_TYPE = /(?:^|\n)content-type\n/i;

/** Undefined if the headers are not a map of texts, numbers and lists of them. */
function headerLines(headers: unknown): string | undefined {
  if (!isPlain(headers)) return undefined;
  let lines = '';
  for (const name in headers) {
    const value = headers[name];
    for (const item of Array.isArray(value) ? value : [value]) {
      if (typeof item !== 'string' && typeof item !== 'number' && typeof item !== 'boolean') return undefined;
      const line = `${name}\n${item}\n`;
      if (LINE_FEEDS.test(line)) return undefined;
      lines += line;
    }
  }
  return lines;
}

/** More than the two that separate name and value. */
const LINE_FEEDS = /\n[^\n]*\n[\s\S]/;
