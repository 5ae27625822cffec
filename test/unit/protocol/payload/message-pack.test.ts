// MessagePack of any client: what JSON can express becomes the same value as JSON, and everything else is refused with
// its place.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Packr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import { parseRawJson } from '../../../../src/protocol/json/byte-string.ts';
import { MessagePackForm } from '../../../../src/protocol/payload/message-pack.ts';
import { MESSAGE_PACK_BYTES_MAX } from '../../../../src/protocol/payload/message-pack-check.ts';
import { randomJson } from '../../../support/random/json-texts.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

interface Vector {
  readonly case: string;
  /** As JSON text. */
  readonly value: string;
  readonly hex: string;
}

const form = new MessagePackForm();
const VECTORS: { readonly payloads: readonly Vector[] } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../golden/binary/msgpack.json'), 'utf8'),
);

const textOf = (bytes: Buffer): string | undefined => {
  // The payload lies in the middle of a message.
  const message = Buffer.concat([Buffer.alloc(3, 0xc1), bytes, Buffer.alloc(5, 0xc1)]);
  const text = form.textOf(message, 3, 3 + bytes.length);
  return text && Buffer.from(text, 'latin1').toString('utf8');
};
const offenceOf = (bytes: Buffer): string | undefined => form.offenceOf(bytes, 0, bytes.length);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');

describe('a payload in MessagePack', () => {
  test.each(VECTORS.payloads)('[wire 2.5] is the same value as JSON: $case', ({ value, hex: bytes }) => {
    expect(textOf(hex(bytes))).toBe(value);
  });

  test('[wire 2.5] carries every JSON value from and to the compact form', () => {
    forEachSeed(500, (random) => {
      const value = randomValue(random, 5);
      const bytes = form.write(value);
      if (bytes !== undefined) expect(parseRawJson(form.textOf(bytes, 0, bytes.length) ?? never())).toEqual(value);
    });
  });

  test('[wire 2.5] that msgpackr writes for another client is read as what JSON makes of it', () => {
    const packr = new Packr({ useRecords: false });
    forEachSeed(200, (random) => {
      const value = randomValue(random, 4);
      if (form.write(value) === undefined) return;
      expect(JSON.parse(textOf(Buffer.from(packr.pack(value))) ?? never())).toEqual(value);
    });
  });

  test('[wire 2.5] keeps every digit of integers beyond 2^53', () => {
    expect(textOf(hex('93cfffffffffffffffffd38000000000000000d30000000100000000'))).toBe(
      '[18446744073709551615,-9223372036854775808,4294967296]',
    );
  });

  test.each([
    ['binary data', 'c40101', 'at byte 0: binary data'],
    ['binary data in an array', '9201c50001ff', 'at byte 2: binary data'],
    ['a timestamp', '81a161d6ff00000000', 'at byte 3: an extension type'],
    ['undefined, as msgpackr writes it', '91d40000', 'at byte 1: an extension type'],
    ['a record of msgpackr', 'd4724091a16101', 'at byte 0: an extension type'],
    ['a byte that is never used', 'c1', 'at byte 0: an extension type'],
    ['a number as a key', '810101', 'at byte 1: a key that is not text'],
    ['an array as a key', '819001', 'at byte 1: a key that is not text'],
    ['the key __proto__', '81a95f5f70726f746f5f5f01', 'at byte 1: the key __proto__'],
    ['the key __proto__ with a long length', '81d9095f5f70726f746f5f5f01', 'at byte 1: the key __proto__'],
    ['NaN', '92c2cb7ff8000000000000', 'at byte 2: a number that is not finite'],
    ['infinity as float32', 'ca7f800000', 'at byte 0: a number that is not finite'],
    ['minus infinity', 'cbfff0000000000000', 'at byte 0: a number that is not finite'],
    ['no bytes', '', 'at byte 0: the end of the payload'],
    ['a text that is cut off', 'a261', 'at byte 1: the end of the payload'],
    ['a length that is cut off', 'da00', 'at byte 1: the end of the payload'],
    ['a text of 4 GiB', 'dbffffffff61', 'at byte 5: the end of the payload'],
    ['a map without its last value', '82a16101a162', 'at byte 6: the end of the payload'],
    ['an array of 4 G elements', 'ddffffffff', 'at byte 5: 4294967295 values in 0 bytes'],
    ['a map of 4 G entries', 'dfffffffff', 'at byte 5: 8589934590 values in 0 bytes'],
    ['a second value', '0102', 'at byte 1: bytes after the value'],
    ['129 levels', `${'91'.repeat(129)}01`, 'at byte 129: nesting of more than 128 levels'],
    ['100 000 levels', `${'91'.repeat(100_000)}01`, 'at byte 129: nesting of more than 128 levels'],
  ])('[wire 2.5] is refused with its place: %s', (_name, bytes, offence) => {
    expect(offenceOf(hex(bytes))).toContain(offence);
    expect(textOf(hex(bytes))).toBeUndefined();
  });

  test('[wire 2.5] may have a key that ends with __proto__', () => {
    expect(textOf(hex('81aa785f5f70726f746f5f5f01'))).toBe('{"x__proto__":1}');
  });

  test('[wire 2.5] of 128 levels is read', () => {
    expect(textOf(hex(`${'91'.repeat(128)}01`))).toBe(`${'['.repeat(128)}1${']'.repeat(128)}`);
  });

  test('[X20] of text that is not UTF-8 is refused, and U+FFFD itself is not', () => {
    expect(textOf(hex('a2c328'))).toBeUndefined();
    expect(textOf(hex('92a161a1ff'))).toBeUndefined();
    expect(textOf(hex('a3efbfbd'))).toBe('"\ufffd"');
  });

  test('[wire 2.5] over 256 KiB is refused with the way out', () => {
    const bytes = Buffer.from(new Packr({ useRecords: false }).pack('x'.repeat(MESSAGE_PACK_BYTES_MAX)));
    expect(offenceOf(bytes)).toContain('the limit is 262144: send a larger payload as JSON text');
    expect(form.write('x'.repeat(MESSAGE_PACK_BYTES_MAX))).toBeUndefined();
  });

  test('[wire 2.5] does not exist for half of a surrogate pair', () => {
    expect(form.write(['\ud800'])).toBeUndefined();
    expect(form.write({ '\udc00': 1 })).toBeUndefined();
    expect(form.write({ '😀': ['😀'] })).toEqual(hex('81a4f09f988091a4f09f9880'));
  });

  test('[fault 33] of random bytes is read or refused, and never breaks the next one', () => {
    forEachSeed(2_000, (random) => {
      const bytes = Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256)));
      const text = textOf(bytes);
      if (text === undefined) return;
      expect(offenceOf(bytes)).toBeUndefined();
      JSON.parse(text);
    });
    expect(textOf(hex('93010203'))).toBe('[1,2,3]');
  });

  test('[guarantees 4] is as long as its JSON for functions that limit their payload', () => {
    const bytes = hex(`dc0064${'cb3fb999999999999a'.repeat(100)}`);
    expect([form.isLongerThan(bytes, 0, bytes.length, 400), form.isLongerThan(bytes, 0, bytes.length, 401)]).toEqual([
      true,
      false,
    ]);
    const control = hex(`da0064${'01'.repeat(100)}`);
    expect(form.isLongerThan(control, 0, control.length, 601)).toBe(true);
  });
});

/** A value that the compact form carries: without the key __proto__, and without numbers that overflow. */
function randomValue(random: SeededRandom, depth: number): unknown {
  const value: unknown = JSON.parse(randomJson(random, depth));
  const text = JSON.stringify(value);
  return text.includes('"__proto__"') ? null : JSON.parse(text);
}

function never(): never {
  throw new Error('A payload that was written cannot be read');
}
