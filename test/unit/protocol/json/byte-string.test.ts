import { describe, expect, test } from 'vitest';
import {
  byteStringToText,
  bytesToByteString,
  detach,
  parseRawJson,
  rawJson,
  textToByteString,
} from '../../../../src/protocol/json/byte-string.ts';

const TEXTS = ['', 'plain', 'é', '名前😀', '\u007f\u0080\u00ff', '\u2028', 'a'.repeat(5000)];

describe('text as bytes', () => {
  test.each(TEXTS)('[PD-8] %j is the same after it is converted and read', (text) => {
    const bytes = textToByteString(text);
    expect(bytes).toHaveLength(Buffer.byteLength(text));
    expect(Math.max(0, ...[...bytes].map((character) => character.charCodeAt(0)))).toBeLessThan(256);
    expect(byteStringToText(bytes)).toBe(text);
  });

  test('[PD-8] Every byte of a socket is kept, and the socket may reuse its buffer', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const text = bytesToByteString(bytes.subarray(1));
    bytes.fill(0x78);
    expect([...text].map((character) => character.charCodeAt(0))).toEqual(
      Array.from({ length: 255 }, (_, index) => index + 1),
    );
  });

  test('[PD-8] Bytes in shared memory are read the same way', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(4));
    shared.set([0x22, 0xc3, 0xa9, 0x22]);
    expect(byteStringToText(bytesToByteString(shared))).toBe('"é"');
  });
});

describe('values as JSON', () => {
  test.each([[null], [0], ['é😀'], [{ a: ['名'] }], [{ nested: { __proto__x: 1 } }]])(
    '[S6] %j is the same after it is written and read',
    (value) => {
      expect(parseRawJson(rawJson(value))).toEqual(value);
    },
  );

  test('[wire 2.1] A value without a JSON form becomes null, and half a character is escaped', () => {
    expect(rawJson(undefined)).toBe('null');
    expect(rawJson('\ud800')).toBe('"\\ud800"');
  });

  test('[X19] The key __proto__ is data', () => {
    const value = parseRawJson(rawJson(JSON.parse('{"__proto__":{"polluted":1}}')));
    expect(Object.keys(Object(value))).toEqual(['__proto__']);
    expect(Object('x').polluted).toBeUndefined();
  });
});

describe('text that is kept', () => {
  test.each([...TEXTS, '\ud800', 'a\udfffb', '\udc00\ud800', 'é\ud800'])('[I1] The copy of %j is the same', (text) => {
    expect(detach(text)).toBe(text);
  });
});
