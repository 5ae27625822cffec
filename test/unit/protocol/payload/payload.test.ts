import { describe, expect, test } from 'vitest';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import { CompactPair } from '../../../support/random/compact-pair.ts';

const KIB = 1024;

describe('the length of a payload', () => {
  test('A payload of text or bytes is as long as its JSON', () => {
    const text = JSON.stringify('x'.repeat(KIB));
    const bytes = Buffer.from(text);
    for (const payload of [Payload.ofText(rawJson('x'.repeat(KIB))), Payload.ofBytes(bytes, 0, bytes.length)]) {
      expect([payload.isLongerThan(bytes.length), payload.isLongerThan(bytes.length - 1)]).toEqual([false, true]);
    }
  });

  test('The keys of a compact payload count once per object', () => {
    const pair = new CompactPair();
    const key = 'k'.repeat(900);
    const bytes = pair.encode({ data: Array.from({ length: 1_000 }, () => ({ [key]: 1 })) }) ?? Buffer.alloc(0);
    expect(bytes.length).toBeGreaterThan(1_000);
    expect(bytes.length).toBeLessThan(8 * KIB);
    const payload = Payload.ofPacked(bytes, 0, bytes.length, pair.form);
    expect([payload.isLongerThan(64 * KIB), payload.isLongerThan(1024 * KIB)]).toEqual([true, false]);
  });

  test('A compact payload that cannot be read is refused as unreadable, not as too long', () => {
    const bytes = Buffer.alloc(100, 0xff);
    const payload = Payload.ofPacked(bytes, 0, bytes.length, new CompactPair().form);
    expect(payload.isLongerThan(KIB)).toBe(false);
    expect(payload.asText()).toBeUndefined();
  });
});

describe('payloads of the binary form that become text', () => {
  test('[X20] Bytes that are not UTF-8 never reach a text frame', () => {
    expect(payloadOf(Buffer.from([0x22, 0xff, 0x22])).asText()).toBeUndefined();
  });

  test('[PD-8] White space around a value is not part of it', () => {
    expect(payloadOf(Buffer.from(' \n{"a":1}\t ')).asText()).toBe('{"a":1}');
  });

  test.each(['', '1 2', '{', '{"a":1}x'])('[I1] %j is not one value', (text) => {
    expect(payloadOf(Buffer.from(text)).asText()).toBeUndefined();
  });
});

function payloadOf(bytes: Buffer): Payload {
  return Payload.ofBytes(bytes, 0, bytes.length);
}
