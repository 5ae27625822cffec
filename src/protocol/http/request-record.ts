// A request of an HTTP trigger on its way to its handler: a record for connections that read records, and JSON for
// everything else. The JSON is written only when it is asked for.

import {
  asByteString,
  asRawJson,
  type ByteString,
  byteStringToText,
  RAW_NULL,
  type RawJson,
} from '../json/byte-string.ts';
import type { WrittenForm } from '../payload/payload.ts';
import { ANSWER_PREFIX, BODY_PREFIX, TEXT_BYTES_MAX, TEXTS_MIN } from './record-layout.ts';
import { type RequestHead, requestText, urlOf } from './request-text.ts';

/** The two channels of a request: its body, and an answer in pieces. */
export interface RequestChannels {
  /** Differs between the requests of this engine. */
  readonly name: string;
  /** Differs between engines. */
  readonly suffix: string;
  readonly bodyKey: string;
  readonly answerKey: string;
}

export class RequestRecord implements WrittenForm {
  readonly name = 'request';
  readonly byteLength: number;
  readonly head: RequestHead;
  readonly channels: RequestChannels;
  readonly #body: ByteString;
  readonly #context: ByteString;
  /** The texts in the order of the layout, without what separates them. */
  readonly #texts: string;
  readonly #lengths: readonly number[];
  readonly #isAscii: boolean;

  /** `body`: JSON. `context`: what middleware returned, JSON; empty: nothing. */
  constructor(head: RequestHead, body: ByteString, context: ByteString | '', channels: RequestChannels) {
    this.head = head;
    this.channels = channels;
    this.#body = body;
    this.#context = context === '' ? NOTHING : context;
    const texts = textsOf(head, this.#context, channels);
    const all = texts.join('');
    const bytes = Buffer.byteLength(all);
    this.#texts = all;
    this.#isAscii = bytes === all.length;
    this.#lengths = texts.map(this.#isAscii ? unitsOf : bytesOf);
    this.byteLength = 2 + 2 * texts.length + bytes + (body === RAW_NULL ? 0 : body.length);
  }

  /** Whether each of its texts has a length that a record can express. */
  get isExpressible(): boolean {
    return this.#lengths.every((length) => length <= TEXT_BYTES_MAX);
  }

  writeTo(target: Buffer, start: number): void {
    const lengths = this.#lengths;
    putU16(target, start, lengths.length);
    let at = start + 2;
    for (const length of lengths) {
      putU16(target, at, length);
      at += 2;
    }
    at += target.write(this.#texts, at, this.#isAscii ? 'latin1' : 'utf8');
    if (this.#body !== RAW_NULL) target.write(this.#body, at, 'latin1');
  }

  /** The request object of modules 5.3. */
  asText(): RawJson {
    const { name, suffix, bodyKey, answerKey } = this.channels;
    const context = this.#context === NOTHING ? '{}' : this.#context;
    return asRawJson(
      `${requestText(this.head)},"body":${this.#body},"request_body":{"channel_id":"${BODY_PREFIX}${name}${suffix}",` +
        `"access_key":"${bodyKey}","direction":"read"},"response":{"channel_id":"${ANSWER_PREFIX}${name}${suffix}",` +
        `"access_key":"${answerKey}","direction":"write"},"context":${context}}`,
    );
  }
}

const NOTHING = asByteString('');

function textsOf(head: RequestHead, context: ByteString, { name, bodyKey, answerKey }: RequestChannels): string[] {
  const { route, method, clientAddress, headers, requestIdHeader, requestId } = head;
  const own = method === route.method ? '' : method;
  const texts = [
    urlOf(head),
    clientAddress,
    name,
    bodyKey,
    answerKey,
    own,
    context === NOTHING ? '' : byteStringToText(context),
    '',
  ];
  for (const value of head.values) texts.push(value);
  let names = '';
  for (let at = 0; at < headers.length; at += 2) {
    const header = headers[at] ?? '';
    // Its own one comes last, whether the client sent one or not.
    if (header === requestIdHeader) continue;
    names += `${header}\n`;
    texts.push(headers[at + 1] ?? '');
  }
  texts.push(requestId);
  texts[TEXTS_MIN - 1] = names + requestIdHeader;
  return texts;
}

function unitsOf(text: string): number {
  return text.length;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

function putU16(target: Uint8Array, at: number, value: number): void {
  target[at] = value & 0xff;
  target[at + 1] = value >>> 8;
}
