// The reply of a handler as a record: the client gets what it gets from the same result as JSON.

import { describe, expect, test } from 'vitest';
import { readHandlerPayload } from '../../../../src/modules/http/requests/handler-result.ts';
import { FLAG } from '../../../../src/protocol/binary/binary-layout.ts';
import { replyForm } from '../../../../src/protocol/http/reply-record.ts';
import { parseRawJson, RAW_NULL, rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { encodeReply } from '../../../../src/sdk/wire/reply-encode.ts';
import { written } from '../../sdk/wire/written.ts';

const RESULT_HEADER_BYTES = 16;

/** The payload that arrives at the engine; undefined: the SDK sends the result in another form. */
function sent(result: unknown): Payload | undefined {
  const reply = encodeReply(result);
  if (reply === undefined) return undefined;
  const message = Buffer.from(
    written((writer) => writer.reply(1, 2, reply)),
    'hex',
  );
  expect(message[5]).toBe(FLAG.payload | FLAG.isReply);
  return Payload.ofPacked(message, RESULT_HEADER_BYTES, message.length, replyForm);
}

/** What the client gets. */
function answerTo(payload: Payload): unknown {
  const read = readHandlerPayload(payload, false);
  if (read?.ok !== true) return read;
  const { body } = read.answer;
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body && Buffer.from(body);
  return { ...read.answer, body: bytes?.toString('utf8') };
}

const RECORDS: [string, unknown][] = [
  ['a status alone', { status_code: 201 }],
  ['a body alone', { body: { a: [1, 'é'] } }],
  ['a body of null', { body: null }],
  ['headers alone', { headers: { 'X-A': 'b' } }],
  ['a text with a type', { headers: { 'Content-Type': 'text/html' }, body: '<p>ü</p>' }],
  ['null with a type', { headers: { 'content-type': 'text/plain' }, body: null }],
  ['a number with a type', { headers: { 'content-type': 'application/json' }, body: 5 }],
  ['a text without a type', { body: 'text' }],
  ['repeated headers, numbers and flags', { headers: { 'set-cookie': ['a=1', 'b=2'], n: 1, t: true } }],
  ['headers of the connection', { headers: { connection: 'close', 'content-length': '7' }, body: 1 }],
  ['a status without a body', { status_code: 204, body: { a: 1 } }],
  ['a status out of range', { status_code: 700 }],
  ['a name that no header has', { headers: { 'a b': 'c' } }],
  ['a value with a control character', { headers: { a: 'b\rc' } }],
  ['an empty value', { headers: { a: '' } }],
];

describe('[wire 2.5] the record of a reply', () => {
  test.each(RECORDS)('%s: gives the client what the same result gives it as JSON', (_case, result) => {
    const payload = sent(result);
    if (payload === undefined) throw new Error('It is sent in another form');
    expect(answerTo(payload)).toEqual(answerTo(Payload.ofText(rawJson(result))));
  });

  test.each([
    ['an object', { status_code: 200, headers: { a: 'b', c: ['d', 'e'] }, body: { f: 1 } }],
    ['a text', { status_code: 404, headers: { 'content-type': 'text/plain' }, body: 'not "found"' }],
  ])('%s: is the object that the handler returned, for all other readers', (_case, result) => {
    expect(parseRawJson(sent(result)?.asText() ?? RAW_NULL)).toEqual(result);
  });

  class Answer {
    readonly body = 1;
  }

  test.each([
    ['null', null],
    ['a list', [1]],
    ['no field of a reply', { a: 1 }],
    ['a status that is no number', { status_code: '200' }],
    ['a fraction as a status', { status_code: 200.5 }],
    ['headers as lines', { headers: ['a: b'] }],
    ['a header of an object', { headers: { a: {} } }],
    ['a header with a line feed', { headers: { a: 'b\nc' } }],
    ['a name with a line feed', { headers: { 'a\nb': 'c' } }],
    ['an object of a class', new Answer()],
    ['an object with toJSON', { body: 1, toJSON: () => ({ body: 2 }) }],
  ])('is not made of %s', (_case, result) => {
    expect(encodeReply(result)).toBeUndefined();
  });

  test('fails as JSON does where the body has a cycle', () => {
    const body: { self?: unknown } = {};
    body.self = body;
    expect(() => encodeReply({ body })).toThrow(/circular/);
  });

  test('that is cut or claims too much cannot be read', () => {
    const whole = Buffer.alloc(20);
    whole.writeUInt16LE(200);
    whole.writeUInt32LE(13, 4);
    for (const end of [0, 7, 20]) {
      const payload = Payload.ofPacked(whole, 0, end, replyForm);
      expect([readHandlerPayload(payload, false), payload.asText()]).toMatchObject([{ ok: false }, undefined]);
    }
  });

  test('whose body is not JSON goes to the client, and to no other reader', () => {
    const bytes = Buffer.concat([Buffer.from([200, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('{"a":')]);
    const payload = Payload.ofPacked(bytes, 0, bytes.length, replyForm);
    expect(answerTo(payload)).toMatchObject({ status: 200, body: '{"a":' });
    expect(payload.asText()).toBeUndefined();
    expect(payload.offence).toContain('cannot be read');
  });
});
