import { expect, test } from 'vitest';
import { wholeLines } from '../../../src/effects/threads/observation-thread.ts';

test('A line that a full pipe takes in part is completed before the next one, and others are refused', () => {
  let room = 10;
  let text = '';
  const write = wholeLines((bytes) => {
    if (room === 0) throw new Error('EAGAIN');
    const taken = bytes.subarray(0, room);
    text += Buffer.from(taken).toString();
    room -= taken.length;
    return taken.length;
  });
  expect(write('twelve chars')).toBe(true);
  expect(write('lost')).toBe(false);
  room = 4;
  expect(write('lost, too')).toBe(true);
  expect(write('lost')).toBe(false);
  room = 100;
  expect(write('last')).toBe(true);
  expect(text).toBe('twelve chars\nlost, too\nlast\n');
});
