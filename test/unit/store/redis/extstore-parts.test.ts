// The logic of the Redis store, without Redis: order of events, order of writes, settings.

import { describe, expect, test } from 'vitest';
import { Lanes } from '../../../../src/store/redis/lanes.ts';
import { weakerPromises } from '../../../../src/store/redis/settings-check.ts';
import type { PlacedEvent, Position } from '../../../../src/store/redis/stream-events.ts';
import { type HistoryPart, isSetBack, WatchedGroup } from '../../../../src/store/redis/watched-group.ts';
import type { StoreEvent } from '../../../../src/store/thread/contract.ts';
import { forEachSeedInTurn } from '../../../support/random/seeded-random.ts';

const NOTHING = new Uint8Array(0);

function placed(seq: number, epoch = 'e', tag = `t${seq}`): PlacedEvent {
  const event: StoreEvent = { place: ['s', 'g', 'i'], kind: 'update', seq, body: NOTHING };
  return { at: { epoch, seq, tag }, event };
}

class Setup {
  readonly seqs: number[] = [];
  resets = 0;
  /** The answers of the store, oldest request first. */
  readonly asked: { from: Position; answer: (part: HistoryPart | undefined) => void }[] = [];
  readonly group = new WatchedGroup({
    watcher: { event: ({ seq }) => void this.seqs.push(seq), reset: () => void this.resets++ },
    eventsFrom: (from) => new Promise((answer) => this.asked.push({ from, answer })),
  });

  async answer(part: HistoryPart | undefined): Promise<void> {
    this.asked.shift()?.answer(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function history(last: number, first: number, epoch = 'e'): HistoryPart {
  const events = Array.from({ length: last - first + 1 }, (_, index) => placed(first + index, epoch));
  return { at: placed(last, epoch).at, events };
}

describe('a group that is followed', () => {
  test('[T2] what comes twice, over the channel and with an answer, is passed on once', async () => {
    const { group, seqs, asked } = new Setup();
    group.begin(placed(4).at);
    group.arrived(placed(5));
    await group.settle(placed(5));
    await group.settle(placed(6));
    group.arrived(placed(6));
    group.arrived(placed(4));
    expect([seqs, asked]).toEqual([[5, 6], []]);
  });

  test('[T1] [T2] the answer of a write waits until what came before it has been read', async () => {
    const setup = new Setup();
    setup.group.begin(placed(1).at);
    let isSettled = false;
    const settled = setup.group.settle(placed(4)).then(() => {
      isSettled = true;
    });
    setup.group.arrived(placed(5));
    expect([setup.seqs, isSettled]).toEqual([[], false]);
    await setup.answer(history(4, 1));
    await settled;
    expect([setup.seqs, setup.resets]).toEqual([[2, 3, 4, 5], 0]);
  });

  test.each<[string, HistoryPart]>([
    ['another epoch', history(9, 1, 'other')],
    ['events that are not kept any more', history(9, 8)],
    ['a number that went back', history(3, 3)],
  ])('[T4] %s: every follower reads again', async (_what, part) => {
    const setup = new Setup();
    setup.group.begin(placed(5).at);
    setup.group.arrived(placed(9));
    await setup.answer(part);
    expect([setup.seqs, setup.resets]).toEqual([[], 1]);
  });

  test('[T2] a history that cannot be read is requested again when the next event comes', async () => {
    const setup = new Setup();
    setup.group.begin(placed(1).at);
    setup.group.arrived(placed(3));
    await setup.answer(undefined);
    setup.group.arrived(placed(4));
    await setup.answer(history(4, 1));
    expect([setup.seqs, setup.resets]).toEqual([[2, 3, 4], 0]);
  });

  test('[T2] whatever is lost, late or doubled on the way, nothing is missing and nothing comes twice', async () => {
    await forEachSeedInTurn(40, async (random) => {
      const setup = new Setup();
      setup.group.begin(placed(0).at);
      let last = 0;
      for (let step = 0; step < 200; step++) {
        if (random.chance(40)) last++;
        if (random.chance(50)) setup.group.arrived(placed(Math.max(1, last - random.below(3))));
        if (random.chance(20) && last > 0) void setup.group.settle(placed(last));
        if (random.chance(30)) await setup.answer(random.chance(80) ? history(last, 0) : undefined);
      }
      void setup.group.fill();
      while (setup.asked.length > 0) await setup.answer(history(last, 0));
      expect(setup.seqs).toEqual(Array.from({ length: last }, (_, index) => index + 1));
      expect(setup.resets).toBe(0);
    });
  });

  test('[T4] a store that was set back is distinguished from one that went on', () => {
    const at = placed(5).at;
    expect(isSetBack(at, history(5, 5))).toBe(false);
    expect(isSetBack(at, history(9, 5))).toBe(false);
    expect(isSetBack(at, history(9, 8))).toBe(false);
    expect(isSetBack(at, history(4, 1))).toBe(true);
    expect(isSetBack(at, { at: placed(5, 'e', 'other').at, events: [] })).toBe(true);
    expect(isSetBack(at, { ...history(9, 6), events: [placed(5, 'e', 'other'), placed(6)] })).toBe(true);
    // A removed group has a number and no last write; another epoch is enough to detect it.
    expect(isSetBack(at, { at: placed(5, 'e', '').at, events: [] })).toBe(false);
    expect(isSetBack(at, history(1, 1, 'other'))).toBe(false);
  });
});

describe('the lanes of an engine', () => {
  test('[S3] what comes while an update holds its lane waits for it, and keeps its order; others do not wait', async () => {
    const lanes = new Lanes();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const work = (name: string) => (): Promise<string> => {
      begun.push(name);
      return new Promise((resolve) => ends.push(() => resolve(name)));
    };
    const all = [
      lanes.pass('a', work('set 1')),
      lanes.hold('a', work('update 1')),
      lanes.pass('a', work('set 2')),
      lanes.hold('a', work('update 2')),
      lanes.pass('a', work('set 3')),
      lanes.pass('b', work('elsewhere')),
    ];
    expect(begun).toEqual(['set 1', 'update 1', 'elsewhere']);
    ends[1]?.();
    await all[1];
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun.slice(3)).toEqual(['set 2', 'update 2']);
    ends[4]?.();
    await all[3];
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun.slice(5)).toEqual(['set 3']);
    for (const end of ends) end();
    expect(await Promise.all(all)).toEqual(['set 1', 'update 1', 'set 2', 'update 2', 'set 3', 'elsewhere']);
  });

  test('[S3] an update that fails lets the next one in', async () => {
    const lanes = new Lanes();
    const failed = lanes.hold('a', () => Promise.reject(new Error('away')));
    const next = lanes.hold('a', async () => 'done');
    await expect(failed).rejects.toThrow('away');
    expect(await next).toBe('done');
  });
});

describe('[PD-55] what a Redis promises', () => {
  const GOOD = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };
  const facts = (settings: object, more: object = {}) => ({
    settings: new Map<string, string>(Object.entries(settings)),
    ...{ replicas: 0, address: 'redis://127.0.0.1:6379', hasPassword: false, ...more },
  });

  test.each<[string, ReturnType<typeof facts>, RegExp[]]>([
    ['all of it', facts(GOOD), []],
    ['all of it, elsewhere', facts(GOOD, { address: 'rediss://***@redis.internal', hasPassword: true }), []],
    ['nothing on disk', facts({ ...GOOD, appendonly: 'no' }), [/^appendonly is off/]],
    ['a sync each second', facts({ ...GOOD, appendfsync: 'everysec' }), [/up to 1 s is lost/]],
    ['a sync some time', facts({ ...GOOD, appendfsync: 'no' }), [/^appendfsync is no/]],
    ['to throw away', facts({ ...GOOD, 'maxmemory-policy': 'allkeys-lru' }), [/throw data away/]],
    ['replicas that may lag', facts({ ...GOOD, 'min-replicas-to-write': '0' }, { replicas: 1 }), [/failover/]],
    ['replicas that are waited for', facts({ ...GOOD, 'min-replicas-to-write': '1' }, { replicas: 1 }), []],
    ['an open door', facts(GOOD, { address: 'redis://redis.internal:6379' }), [/no password/, /no TLS/]],
    ['what it does not say', facts({}), [/cannot be read/]],
  ])('%s', (_what, given, expected) => {
    const weaker = weakerPromises(given);
    expect(weaker).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(weaker[index]).toMatch(pattern);
  });
});
