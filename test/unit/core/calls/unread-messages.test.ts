import { expect, test } from 'vitest';
import { UnreadMessages } from '../../../../src/core/calls/unread-messages.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

const LIMITS = { bytesMax: 1_000, messagesMax: 5, freeBytesMax: 1_500_000 };

test('[T5] a client that reads is never too slow, however much it is sent', () => {
  const unread = new UnreadMessages();
  for (let n = 0; n < 100; n++) unread.sent(900, 3, 0, false);
  expect(unread.hasUnread).toBe(false);
  expect(unread.isOver(0, LIMITS)).toBe(false);
});

test('[T5] bytes and messages are counted separately, and read ones no longer count', () => {
  const unread = new UnreadMessages();
  unread.sent(400, 3, 400, false);
  unread.sent(400, 3, 800, false);
  expect(unread.isOver(800, LIMITS)).toBe(true);
  expect(unread.isOver(401, LIMITS)).toBe(true);
  expect(unread.isOver(400, LIMITS)).toBe(false);
  unread.sent(700, 1, 1_100, false);
  expect(unread.isOver(1_100, LIMITS)).toBe(true);
  expect(unread.isOver(1_000, LIMITS)).toBe(false);
});

test('[T5] a requested answer does not count as unread, later messages do', () => {
  const unread = new UnreadMessages();
  unread.sent(1_000_000, 1, 1_000_000, true);
  expect(unread.isOver(1_000_000, LIMITS)).toBe(false);
  unread.sent(1_001, 1, 1_001_001, false);
  expect(unread.isOver(1_001_001, LIMITS)).toBe(true);
  expect(unread.isOver(900, LIMITS)).toBe(false);
});

test('[T5] a client that sends requests and never reads is too slow', () => {
  const unread = new UnreadMessages();
  unread.sent(1_000_000, 1, 1_000_000, true);
  unread.sent(1_000_000, 1, 2_000_000, true);
  expect(unread.isOver(2_000_000, LIMITS)).toBe(true);
});

test('[T5] a message counts as unread until its last byte is read', () => {
  forEachSeed(30, (random) => {
    const unread = new UnreadMessages();
    const onTheWay: { bytes: number; messages: number }[] = [];
    let buffered = 0;
    for (let step = 0; step < 200; step++) {
      if (random.chance(60)) {
        const sent = { bytes: random.between(1, 50), messages: random.between(1, 3) };
        onTheWay.push(sent);
        buffered += sent.bytes;
        unread.sent(sent.bytes, sent.messages, buffered, false);
      } else {
        buffered -= random.below(Math.min(buffered, 60) + 1);
        for (let bytes = buffered, keep = onTheWay.length; ; ) {
          const last = onTheWay[keep - 1];
          if (last === undefined || bytes <= 0) {
            onTheWay.splice(0, keep);
            break;
          }
          bytes -= last.bytes;
          keep -= 1;
        }
      }
      const count = onTheWay.reduce((sum, { messages }) => sum + messages, 0);
      const limits = { ...LIMITS, bytesMax: Number.POSITIVE_INFINITY, messagesMax: count };
      expect(unread.isOver(buffered, limits)).toBe(false);
      if (count > 0) expect(unread.isOver(buffered, { ...limits, messagesMax: count - 1 })).toBe(true);
    }
  });
});
