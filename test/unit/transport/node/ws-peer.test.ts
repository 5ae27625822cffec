import { describe, expect, test } from 'vitest';
import { MessageProgress } from '../../../../src/transport/node/ws-peer.ts';
import { type BareFrame, encodeFrame } from '../../../support/clients/bare-socket.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

const TEXT = 1;
const CONTINUATION = 0;
const PING = 9;
const NOTHING = Buffer.alloc(0);

describe('a message that is being received', () => {
  test('lasts from its first to its last byte', () => {
    for (const size of [0, 1, 125, 126, 65_535, 65_536]) {
      const progress = new MessageProgress();
      const bytes = encodeFrame({ opcode: TEXT, payload: Buffer.alloc(size) });
      expect(progress.beganMs).toBeUndefined();
      // Byte by byte through the header, and in one piece to the last byte.
      const pieces = [...Array.from({ length: 5 }, () => 1), bytes.length - 6, 1].filter((length) => length > 0);
      let at = 0;
      for (const length of pieces) {
        progress.take(bytes.subarray(at, at + length), 100 + at);
        at += length;
        expect(progress.beganMs).toBe(at === bytes.length ? undefined : 100);
      }
    }
  });

  test('continues through its fragments and the pings between them', () => {
    const progress = new MessageProgress();
    const steps: readonly [frame: BareFrame, isOver: boolean][] = [
      [{ opcode: TEXT, payload: Buffer.from('a'), fin: false }, false],
      [{ opcode: PING, payload: NOTHING }, false],
      [{ opcode: CONTINUATION, payload: NOTHING, fin: false }, false],
      [{ opcode: PING, payload: Buffer.from('x') }, false],
      [{ opcode: CONTINUATION, payload: Buffer.from('b') }, true],
      [{ opcode: PING, payload: Buffer.from('x') }, true],
    ];
    for (const [index, [frame, isOver]] of steps.entries()) {
      progress.take(encodeFrame(frame), index);
      expect(progress.beganMs).toBe(isOver ? undefined : 0);
    }
  });

  test('may start in the piece in which another ends', () => {
    const progress = new MessageProgress();
    const frame = encodeFrame({ opcode: TEXT, payload: Buffer.alloc(50) });
    progress.take(frame.subarray(0, 20), 1);
    progress.take(Buffer.concat([frame.subarray(20), frame.subarray(0, 1)]), 2);
    expect(progress.beganMs).toBe(2);
    progress.take(frame.subarray(1), 3);
    expect(progress.beganMs).toBeUndefined();
  });

  test('is detected for any frames in any pieces', () => {
    forEachSeed(20, (random) => {
      const messages = Array.from({ length: random.between(1, 20) }, () => randomMessage(random));
      const bytes = Buffer.concat(messages);
      const starts = messages.map((_, index) => Buffer.concat(messages.slice(0, index)).length);
      const progress = new MessageProgress();
      let nowMs = 0;
      const takenMs = new Map<number, number>();
      for (let at = 0; at < bytes.length; ) {
        const next = Math.min(bytes.length, at + random.between(1, random.pick([10, 1_000, 100_000])));
        nowMs += 1;
        for (const start of starts) if (start >= at && start < next) takenMs.set(start, nowMs);
        progress.take(bytes.subarray(at, next), nowMs);
        at = next;
        const isBetween = at === bytes.length || starts.includes(at);
        const current = starts.filter((start) => start < at).at(-1) ?? 0;
        expect(progress.beganMs).toBe(isBetween ? undefined : takenMs.get(current));
      }
    });
  });

  test('of 2^64 - 1 bytes does not end', () => {
    const progress = new MessageProgress();
    progress.take(encodeFrame({ opcode: TEXT, payload: NOTHING, claimedLength: 2n ** 64n - 1n }), 5);
    progress.take(Buffer.alloc(1_000_000), 6);
    expect(progress.beganMs).toBe(5);
  });
});

/**
 * A message of one to five frames, masked or not, sometimes with a ping between them. It counts as one interval.
 */
function randomMessage(random: SeededRandom): Buffer {
  const count = random.between(1, 5);
  const frames: Buffer[] = [];
  for (let index = 0; index < count; index++) {
    const payload = Buffer.alloc(random.pick([0, 1, 125, 126, 127, 300, 65_535, 65_536, 70_000]));
    const opcode = index === 0 ? TEXT : CONTINUATION;
    frames.push(encodeFrame({ opcode, payload, fin: index === count - 1, masked: random.chance(80) }));
    const isLast = index === count - 1;
    if (!isLast && random.chance(30))
      frames.push(encodeFrame({ opcode: PING, payload: Buffer.alloc(random.below(126)) }));
  }
  return Buffer.concat(frames);
}
