import { describe, expect, test } from 'vitest';
import { Channel, clampBufferSize, type Direction, UNTAKEN_MS_MAX } from '../../../../src/core/channels/channel.ts';
import { ByteBudget, JointBudget } from '../../../../src/core/limits/byte-budget.ts';
import { forEachSeed, RUNS_ALL_SEEDS } from '../../../support/random/seeded-random.ts';

describe('the ends of a channel', () => {
  test('[wire 7] Each end can be connected once, even after it was left', () => {
    for (const end of ['read', 'write'] as const) {
      const channel = newChannel();
      expect(channel.take(end)).toBe(true);
      expect(channel.take(end)).toBe(false);
      leave(channel, end);
      expect(channel.take(end)).toBe(false);
    }
  });

  test('[wire 7] The reader ends after the writer has left and every frame was sent', () => {
    const channel = newChannel();
    channel.take('write');
    channel.take('read');
    channel.held.hold(Uint8Array.of(1), false);
    expect(channel.endingForReader).toBeUndefined();
    channel.leaveWriter('complete');
    expect(channel.endingForReader).toBeUndefined();
    expect(channel.isDelivering).toBe(true);
    channel.held.next();
    expect(channel.endingForReader).toBe('complete');
  });

  test('[wire 7] A reader that connects after the writer has left gets the kept frames, then the end', () => {
    const channel = newChannel();
    channel.take('write');
    channel.held.hold(Uint8Array.of(1), false);
    channel.leaveWriter('cut');
    expect(channel.endingForReader).toBeUndefined();
    channel.take('read');
    expect(channel.endingForReader).toBeUndefined();
    channel.held.next();
    expect(channel.endingForReader).toBe('cut');
  });

  test('[wire 7] After the reader has left nothing is kept', () => {
    const channel = newChannel();
    channel.take('write');
    channel.take('read');
    channel.held.hold(Uint8Array.of(1), false);
    channel.leaveReader();
    expect(channel.held.isEmpty).toBe(true);
    expect(channel.isOver).toBe(false);
    channel.leaveWriter('complete');
    expect(channel.isOver).toBe(true);
  });

  test('[wire 7] In any order of events, each end opens at most once and leaves at most once', () => {
    let over = 0;
    forEachSeed(200, (random) => {
      const channel = newChannel();
      const taken = { read: 0, write: 0 };
      const left = { read: 0, write: 0 };
      for (let step = 0; step < 12; step++) {
        const end = random.pick(['read', 'write'] as const);
        const before = channel.stateOf(end);
        if (random.chance(50)) {
          if (channel.take(end)) taken[end]++;
          expect(channel.stateOf(end)).toBe(before === 'untaken' ? 'open' : before);
        } else {
          if (leave(channel, end)) left[end]++;
          expect(channel.stateOf(end)).toBe(before === 'open' ? 'gone' : before);
        }
        const ends = [channel.stateOf('read'), channel.stateOf('write')];
        expect(channel.isOver).toBe(ends.every((state) => state === 'gone'));
        expect(channel.isOverdue(UNTAKEN_MS_MAX)).toBe(ends.includes('untaken'));
        if (channel.endingForReader !== undefined) expect(ends).toEqual(['open', 'gone']);
      }
      for (const end of ['read', 'write'] as const) {
        expect(taken[end]).toBeLessThanOrEqual(1);
        expect(left[end]).toBeLessThanOrEqual(taken[end]);
      }
      if (channel.isOver) over++;
    });
    if (RUNS_ALL_SEEDS) expect(over).toBeGreaterThan(10);
  });
});

describe('the time limit of a channel', () => {
  test.each<[string, Direction[], boolean]>([
    ['no end', [], true],
    ['only the writing end', ['write'], true],
    ['only the reading end', ['read'], true],
    ['both ends', ['read', 'write'], false],
  ])('[PD-52] With %s connected, it is overdue after five minutes: %s', (_case, ends, isOverdue) => {
    const channel = newChannel(1000);
    for (const end of ends) channel.take(end);
    expect(channel.isOverdue(1000 + 5 * 60_000 - 1)).toBe(false);
    expect(channel.isOverdue(1000 + 5 * 60_000)).toBe(isOverdue);
    expect(channel.isOverdue(1e12)).toBe(isOverdue);
  });
});

test.each([
  [undefined, 64],
  [null, 64],
  [1, 1],
  [64, 64],
  [1024, 1024],
  [0, 1],
  [-5, 1],
  [0.5, 1],
  [10.9, 10],
  [1025, 1024],
  [1e300, 1024],
  [Number.NaN, 64],
])('[wire 7] A requested buffer of %s frames gives %i frames', (asked, frames) => {
  expect(clampBufferSize(asked)).toBe(frames);
});

function leave(channel: Channel, end: Direction): boolean {
  return end === 'read' ? channel.leaveReader() : channel.leaveWriter('complete');
}

function newChannel(createdMs = 0): Channel {
  return new Channel(
    { id: 'id', key: 'key', framesMax: 64, createdMs },
    {
      memoryBytesMax: 1024,
      fileBytesMax: 1024,
      memoryBudget: new ByteBudget(1024),
      fileBudget: new JointBudget([{ name: 'files', budget: new ByteBudget(1024) }]),
    },
  );
}
