import { expect, test } from 'vitest';
import { frameBytes, frameTexts } from '../../../../src/sdk/node/socket-node.ts';
import { HEADROOM_BYTES } from '../../../../src/sdk/worker/platform.ts';

/** The texts as a server reads them by RFC 6455, section 5.2. */
function readFrames(bytes: Buffer, firstByte = 0b1000_0001): string[] {
  const texts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    expect(bytes.readUInt8(at), 'one final frame of its kind without extensions').toBe(firstByte);
    const second = bytes.readUInt8(at + 1);
    expect(second & 0b1000_0000, 'masked, as frames of clients are').not.toBe(0);
    at += 2;
    let size = second & 0b0111_1111;
    if (size === 126) {
      size = bytes.readUInt16BE(at);
      expect(size, 'in the shortest form').toBeGreaterThan(125);
      at += 2;
    } else if (size === 127) {
      size = Number(bytes.readBigUInt64BE(at));
      expect(size, 'in the shortest form').toBeGreaterThan(0xffff);
      at += 8;
    }
    const mask = bytes.subarray(at, at + 4);
    at += 4;
    const payload = bytes.subarray(at, at + size).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
    texts.push(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload));
    at += size;
  }
  return texts;
}

test('[SDK-7] a batch of messages is a sequence of frames that every WebSocket server reads', () => {
  const texts = [
    '',
    'a',
    'é€😀',
    'x'.repeat(125),
    'x'.repeat(126),
    '€'.repeat(21_845),
    'x'.repeat(65_535),
    'x'.repeat(65_536),
  ];
  expect(readFrames(frameTexts(texts))).toEqual(texts);
});

test('[SDK-7] the frames hold only headers and texts', () => {
  expect([...frameTexts(['hi'])]).toEqual([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]);
  expect(frameTexts(['x'.repeat(126)])).toHaveLength(126 + 8);
  expect(frameTexts(['x'.repeat(65_536)])).toHaveLength(65_536 + 14);
});

test.each([0, 1, 125, 126, 65_535, 65_536, 70_000])('[SDK-7] %d bytes become a binary frame in place', (size) => {
  const memory = Buffer.alloc(HEADROOM_BYTES + size + 3, 'x');
  const frame = frameBytes(memory, HEADROOM_BYTES, HEADROOM_BYTES + size);
  expect(frame.buffer).toBe(memory.buffer);
  expect(readFrames(frame, 0b1000_0010)).toEqual(['x'.repeat(size)]);
  expect(memory.subarray(HEADROOM_BYTES).toString()).toBe('x'.repeat(size + 3));
});
