import { describe, expect, test } from 'vitest';
import { Envelope, readEnvelope } from '../../../../src/protocol/frames/envelope.ts';
import { byteStringToText } from '../../../../src/protocol/json/byte-string.ts';

/** Every field of the wire, by what the engine does with its value. */
const PLAIN = [
  'type',
  'id',
  'name',
  'description',
  'parent_service_id',
  'namespace',
  'trigger_namespace',
  'trigger_type',
  'function_id',
  'invocation_id',
  'traceparent',
  'baggage',
  'timeout_ms',
  'action',
  'previous_worker_id',
  'reattach_token',
] as const;
const RAW = [
  'data',
  'result',
  'error',
  'config',
  'metadata',
  'invocation',
  'request_format',
  'response_format',
  'trigger_request_format',
  'call_request_format',
] as const;

describe('fields', () => {
  test('[wire 2.3] Every field of the wire is found at any position', () => {
    const fields = [...PLAIN, ...RAW];
    for (const order of [fields, [...fields].reverse()]) {
      const envelope = read(`{${order.map((name) => `"${name}":"${name}!"`).join(',')}}`);
      for (const name of PLAIN) expect(envelope[name]).toBe(`${name}!`);
      for (const name of RAW) expect(envelope[name]).toBe(`"${name}!"`);
    }
  });

  test('[wire 1.5] Unknown fields are skipped, even those with nearly a known name', () => {
    const names = [...PLAIN, ...RAW].flatMap((name) => [
      `${name}x`,
      `x${name}`,
      name.slice(0, -1),
      name.toUpperCase(),
      `${name[0]}${'_'.repeat(name.length - 2)}${name.at(-1)}`,
      `${name}\\u0000`,
    ]);
    const others = names.filter((name) => ![...PLAIN, ...RAW].some((known) => known === name));
    const envelope = read(`{${others.map((name) => `"${name}":{"deep":[1,"2"]}`).join(',')}}`);
    expect(envelope).toEqual(new Envelope());
  });

  test('[wire 2.1] Null counts as absent, except where it is a value of a user', () => {
    const envelope = read(`{${[...PLAIN, ...RAW].map((name) => `"${name}":null`).join(',')}}`);
    expect(envelope).toEqual(Object.assign(new Envelope(), { data: 'null', result: 'null', config: 'null' }));
  });

  test('[wire 1.5] The last of two equal fields counts, even if it is null', () => {
    expect(read('{"id":"a","id":"b"}').id).toBe('b');
    expect(read('{"id":"a","id":null}').id).toBeUndefined();
    expect(read('{"data":1,"data":2}').data).toBe('2');
    expect(read('{"error":1,"error":null}').error).toBeUndefined();
  });

  test.each([
    ['"plain"', 'plain'],
    ['""', ''],
    ['"a\\"b\\\\c\\/d\\n\\u00e9"', 'a"b\\c/d\né'],
    ['"é名😀"', 'é名😀'],
    ['"\\ud83d\\ude00"', '😀'],
    ['"\\ud800"', '\ud800'],
    ['"\u007f"', '\u007f'],
    ['"\\u0000"', '\0'],
    ['5', 5],
    ['-1.5e3', -1500],
    ['1e400', Number.POSITIVE_INFINITY],
    ['true', true],
    ['false', false],
    ['["a",{"b":null}]', ['a', { b: null }]],
  ])('[wire 1.5] A plain field with %s is read as JSON.parse reads it', (text, value) => {
    expect(read(`{"id":${text}}`).id).toEqual(value);
  });

  test('[PD-8] A payload keeps its bytes: spaces, spellings of numbers, repeated keys, escapes and umlauts', () => {
    const payload = '{ "n" : 1.0e2 , "big":12345678901234567890, "a":1,"a":2, "s":"\\u00e9é名😀\\ud800" }';
    const { data } = read(`{"data":${payload},"type":"x"}`);
    expect(data === undefined ? undefined : byteStringToText(data)).toBe(payload);
  });
});

describe('bytes that are not a frame', () => {
  test.each([
    ['', 'the text ends in the middle of a value'],
    ['{', 'the text ends in the middle of a value'],
    ['{"a":1', 'the text ends in the middle of a value'],
    ['[]', 'nested too deep, or out of place, at byte 0'],
    ['"ping"', `unexpected '"' at byte 0`],
    ['null', "unexpected 'n' at byte 0"],
    ['{"a":1}x', "unexpected 'x' at byte 7"],
    ['{"a":1} {"b":2}', 'nested too deep, or out of place, at byte 8'],
    ['{"a":\u0001}', 'unexpected byte 0x1 at byte 5'],
    ['\ufeff{}', 'unexpected byte 0xef at byte 0'],
    ['{"a":1,}', "unexpected '}' at byte 7"],
    ['{a:1}', "unexpected 'a' at byte 1"],
  ])('[wire 1.5] %j is refused with the position and the reason', (text, reason) => {
    const envelope = readEnvelope(new TextEncoder().encode(text));
    expect(envelope).toMatchObject({ reason });
  });

  test('[guarantees 4] A frame may be nested 128 levels deep, and not 129', () => {
    const nested = (levels: number) => `{"data":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    for (const levels of [2, 127, 128]) expect(read(nested(levels)).data).toHaveLength(2 * (levels - 1));
    expect(readEnvelope(new TextEncoder().encode(nested(129)))).toMatchObject({
      reason: 'nested too deep, or out of place, at byte 135',
    });
  });

  test('[wire 1.5] Bytes that are not UTF-8 are read as the library would read them', () => {
    const bytes = Uint8Array.from([...'{"id":"', 0xed, 0xa0, 0x80, ...'"}'].map(toByte));
    const envelope = readEnvelope(bytes);
    expect(envelope instanceof Envelope && envelope.id).toBe('\ufffd\ufffd\ufffd');
  });
});

function read(text: string): Envelope {
  const envelope = readEnvelope(new TextEncoder().encode(text));
  if (envelope instanceof Envelope) return envelope;
  throw new Error(envelope.reason);
}

function toByte(item: string | number): number {
  return typeof item === 'number' ? item : item.charCodeAt(0);
}
