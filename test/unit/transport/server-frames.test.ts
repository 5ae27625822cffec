import { expect, test } from 'vitest';
import { textToByteString } from '../../../src/protocol/json/byte-string.ts';
import { binaryFrame, textFrame } from '../../../src/transport/server-frames.ts';

test.each([
  [0, [0]],
  [1, [1]],
  [125, [125]],
  [126, [126, 0, 126]],
  [65_535, [126, 255, 255]],
  [65_536, [127, 0, 0, 0, 0, 0, 1, 0, 0]],
  [20_000_000, [127, 0, 0, 0, 0, 1, 0x31, 0x2d, 0]],
])('[wire 1.5] A message of %i bytes is one frame with the shortest length field', (bytes, length) => {
  const header = (first: number): Buffer => Buffer.from([first, ...length]);
  const payload = Buffer.alloc(bytes, 'x');
  expect(binaryFrame(payload).equals(Buffer.concat([header(0x82), payload]))).toBe(true);
  const text = textToByteString('x'.repeat(bytes));
  expect(textFrame(text).equals(Buffer.concat([header(0x81), payload]))).toBe(true);
});

test('[wire 1.5] Text that is already bytes is not encoded again', () => {
  expect(textFrame(textToByteString('é€')).subarray(2).toString()).toBe('é€');
});

test('[L5] The bytes of a message may be reused at once', () => {
  const bytes = Buffer.from('before');
  const frame = binaryFrame(bytes);
  bytes.fill('x');
  expect(frame.subarray(2).toString()).toBe('before');
});
