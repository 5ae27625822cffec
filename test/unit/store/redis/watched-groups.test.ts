// The order of events of a group in Redis, without Redis.

import { describe, expect, test } from 'vitest';
import type { Position, RecordedEvent } from '../../../../src/store/redis/stream-events.ts';
import { type HistoryPart, isSetBack, WatchedGroup } from '../../../../src/store/redis/watched-groups.ts';
import type { StoreEvent } from '../../../../src/store/thread/contract.ts';
import { forEachSeedInTurn } from '../../../support/random/seeded-random.ts';

const NOTHING = new Uint8Array(0);

function recorded(seq: number, epoch = 'e', tag = `t${seq}`): RecordedEvent {
  const event: StoreEvent = { path: ['s', 'g', 'i'], kind: 'update', seq, body: NOTHING };
  return { at: { epoch, seq, tag }, event };
}

class Setup {
  readonly seqs: number[] = [];
  resets = 0;
  /** The answers of the store, oldest request first. */
  readonly requests: { from: Position; answer: (part: HistoryPart | undefined) => void }[] = [];
  readonly group = new WatchedGroup({
    watcher: { event: ({ seq }) => void this.seqs.push(seq), reset: () => void this.resets++ },
    eventsFrom: (from) => new Promise((answer) => this.requests.push({ from, answer })),
  });

  async answer(part: HistoryPart | undefined): Promise<void> {
    this.requests.shift()?.answer(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function history(last: number, first: number, epoch = 'e'): HistoryPart {
  const events = Array.from({ length: last - first + 1 }, (_, index) => recorded(first + index, epoch));
  return { at: recorded(last, epoch).at, events };
}

describe('a watched group', () => {
  test('[T2] an event that arrives twice, over the channel and with an answer, is passed on once', async () => {
    const { group, seqs, requests } = new Setup();
    group.begin(recorded(4).at);
    group.arrived(recorded(5));
    await group.settle(recorded(5));
    await group.settle(recorded(6));
    group.arrived(recorded(6));
    group.arrived(recorded(4));
    expect([seqs, requests]).toEqual([[5, 6], []]);
  });

  test('[T1] [T2] the answer of a write waits until earlier events have been read', async () => {
    const setup = new Setup();
    setup.group.begin(recorded(1).at);
    let isSettled = false;
    const settled = setup.group.settle(recorded(4)).then(() => {
      isSettled = true;
    });
    setup.group.arrived(recorded(5));
    expect([setup.seqs, isSettled]).toEqual([[], false]);
    await setup.answer(history(4, 1));
    await settled;
    expect([setup.seqs, setup.resets]).toEqual([[2, 3, 4, 5], 0]);
  });

  test.each<[string, HistoryPart]>([
    ['another epoch', history(9, 1, 'other')],
    ['events that are not kept any more', history(9, 8)],
    ['a number that went back', history(3, 3)],
  ])('[T4] %s makes every subscriber read again', async (_what, part) => {
    const setup = new Setup();
    setup.group.begin(recorded(5).at);
    setup.group.arrived(recorded(9));
    await setup.answer(part);
    expect([setup.seqs, setup.resets]).toEqual([[], 1]);
  });

  test('[T2] a history that cannot be read is requested again when the next event comes', async () => {
    const setup = new Setup();
    setup.group.begin(recorded(1).at);
    setup.group.arrived(recorded(3));
    await setup.answer(undefined);
    setup.group.arrived(recorded(4));
    await setup.answer(history(4, 1));
    expect([setup.seqs, setup.resets]).toEqual([[2, 3, 4], 0]);
  });

  test('[T2] whatever is lost, late or repeated, every event is passed on once', async () => {
    await forEachSeedInTurn(40, async (random) => {
      const setup = new Setup();
      setup.group.begin(recorded(0).at);
      let last = 0;
      for (let step = 0; step < 200; step++) {
        if (random.chance(40)) last++;
        if (random.chance(50)) setup.group.arrived(recorded(Math.max(1, last - random.below(3))));
        if (random.chance(20) && last > 0) void setup.group.settle(recorded(last));
        if (random.chance(30)) await setup.answer(random.chance(80) ? history(last, 0) : undefined);
      }
      void setup.group.fill();
      while (setup.requests.length > 0) await setup.answer(history(last, 0));
      expect(setup.seqs).toEqual(Array.from({ length: last }, (_, index) => index + 1));
      expect(setup.resets).toBe(0);
    });
  });

  test('[T4] a store that was set back is detected', () => {
    const at = recorded(5).at;
    expect(isSetBack(at, history(5, 5))).toBe(false);
    expect(isSetBack(at, history(9, 5))).toBe(false);
    expect(isSetBack(at, history(9, 8))).toBe(false);
    expect(isSetBack(at, history(4, 1))).toBe(true);
    expect(isSetBack(at, { at: recorded(5, 'e', 'other').at, events: [] })).toBe(true);
    expect(isSetBack(at, { ...history(9, 6), events: [recorded(5, 'e', 'other'), recorded(6)] })).toBe(true);
    // A removed group has a number and no last write; another epoch is enough to detect it.
    expect(isSetBack(at, { at: recorded(5, 'e', '').at, events: [] })).toBe(false);
    expect(isSetBack(at, history(1, 1, 'other'))).toBe(false);
  });
});
