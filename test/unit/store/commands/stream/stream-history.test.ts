// Numbers, history and snapshots of groups in the store.

import { describe, expect, test } from 'vitest';
import { STORE_LIMITS } from '../../../../../src/store/thread/contract.ts';
import { forEachSeed, type SeededRandom } from '../../../../support/random/seeded-random.ts';
import { type ReadMessage, StreamStore } from '../../../../support/stores/stream-store.ts';

const GROUP = { stream_name: 's', group_id: 'g' };
const MINUTE_MS = 60_000;

function set(store: StreamStore, item_id: string, data: unknown): void {
  store.run('stream::set', { ...GROUP, item_id, data });
}

describe('the first messages of a subscriber', () => {
  test('[T2] every event of a group has the next number, whatever its item', () => {
    const store = new StreamStore();
    const seqs = [
      store.run('stream::set', { ...GROUP, item_id: 'a', data: 1 }),
      store.run('stream::send', { ...GROUP, type: 't', data: 1 }),
      store.run('stream::set', { ...GROUP, group_id: 'other', item_id: 'a', data: 1 }),
      store.run('stream::delete', { ...GROUP, item_id: 'a' }),
      store.run('stream::delete', { ...GROUP, item_id: 'a' }),
      store.run('stream::update', { ...GROUP, item_id: 'a', ops: [{ type: 'set', path: '', value: 1 }] }),
    ].map(({ events }) => events?.[0]?.seq);
    expect(seqs).toEqual([1, 2, 1, 3, undefined, 4]);
  });

  test('[T4] a subscriber that missed kept events gets exactly those', () => {
    const store = new StreamStore();
    for (let n = 1; n <= 5; n++) set(store, n % 2 ? 'odd' : 'even', n);
    const { messages, seq } = store.subscribe({ ...GROUP, epoch: 'e1', seq: 2 });
    expect(seq).toBe(5);
    expect(messages[0]).toMatchObject({ seq: 2, event: { type: 'sync', recovered: true } });
    expect(messages[0]?.event).not.toHaveProperty('data');
    expect(messages.slice(1).map(({ event }) => event.data)).toEqual([3, 4, 5]);
    const item = store.subscribe({ ...GROUP, id: 'even', epoch: 'e1', seq: 2 });
    expect(item.messages.slice(1).map(({ event }) => event.data)).toEqual([4]);
    expect(store.subscribe({ ...GROUP, epoch: 'e1', seq: 5 }).messages).toHaveLength(1);
  });

  test('[T4] another epoch, or an unknown number, is answered with a snapshot', () => {
    const store = new StreamStore();
    set(store, 'a', 1);
    for (const since of [{ epoch: 'e0', seq: 1 }, { epoch: 'e1', seq: 2 }, { seq: 1 }]) {
      const { messages } = store.subscribe({ ...GROUP, ...since });
      expect(messages).toMatchObject([{ seq: 1, event: { type: 'sync', data: [1], ids: ['a'], recovered: false } }]);
    }
  });

  test('[T4] events leave the history by count, by bytes and by age, oldest first', () => {
    const isKept = (store: StreamStore, seq: number): boolean =>
      store.subscribe({ ...GROUP, epoch: 'e1', seq: seq - 1 }).messages[0]?.event.recovered === true;
    const byCount = new StreamStore();
    for (let n = 1; n <= 1_001; n++) set(byCount, 'a', n);
    expect([isKept(byCount, 1), isKept(byCount, 2)]).toEqual([false, true]);
    const byBytes = new StreamStore();
    for (let n = 1; n <= 3; n++) set(byBytes, 'a', 'x'.repeat(400_000));
    expect([isKept(byBytes, 1), isKept(byBytes, 2)]).toEqual([false, true]);
    set(byBytes, 'a', 'x'.repeat(1_100_000));
    expect([isKept(byBytes, 3), isKept(byBytes, 4), isKept(byBytes, 5)]).toEqual([false, false, true]);
    const byAge = new StreamStore();
    set(byAge, 'a', 1);
    byAge.nowMs += 5 * MINUTE_MS - 1;
    set(byAge, 'a', 2);
    expect(isKept(byAge, 1)).toBe(true);
    byAge.nowMs += 1;
    set(byAge, 'a', 3);
    expect([isKept(byAge, 1), isKept(byAge, 2)]).toEqual([false, true]);
  });
});

describe('groups without writes', () => {
  test('[T4] are removed after a while, and never use a number twice', () => {
    const store = new StreamStore();
    for (let group = 0; group < 700; group++) {
      store.run('stream::send', { stream_name: 's', group_id: String(group), type: 't', data: group });
    }
    store.nowMs += 6 * MINUTE_MS;
    while (JSON.stringify(store.ask('stream.sweep')) !== '{"swept":0}') {
      // Each round is bounded.
    }
    // What remains is the first number of a new group.
    expect(store.recordCount).toBe(1);
    for (let n = 0; n < 3; n++) store.run('stream::send', { ...GROUP, type: 't', data: n });
    const old = store.subscribe({ ...GROUP, epoch: 'e1', seq: 1 });
    expect(old.seq).toBe(4);
    // Number 1 was the last of every group before its removal: no event after it is missing.
    expect(old.messages.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  test('[T4] are removed after a while without a history too', () => {
    const store = new StreamStore();
    store.limits = { ...STORE_LIMITS, streamHistoryEvents: 0 };
    for (const group_id of ['g', 'h']) store.run('stream::send', { ...GROUP, group_id, type: 't', data: 1 });
    set(store, 'a', 1);
    store.run('stream::delete', { ...GROUP, item_id: 'a' });
    store.nowMs += 6 * MINUTE_MS;
    store.run('stream.sweep');
    expect(store.recordCount).toBe(1);
    expect(store.run('stream::send', { ...GROUP, type: 't', data: 1 }).events).toMatchObject([{ seq: 4 }]);
  });

  test('[D2] are removed in short steps', () => {
    const store = new StreamStore();
    for (let event = 0; event < 20_000; event++) {
      store.run('stream::send', { stream_name: 's', group_id: String(event % 20), type: 't', data: event });
    }
    store.nowMs += 6 * MINUTE_MS;
    const before = store.recordCount;
    store.run('stream.sweep');
    expect(before - store.recordCount).toBeLessThan(10_000);
    while (JSON.stringify(store.ask('stream.sweep')) !== '{"swept":0}') {
      // Until nothing remains.
    }
    expect(store.recordCount).toBe(1);
  });

  test('[T4] keep their items and their number', () => {
    const store = new StreamStore();
    set(store, 'a', 1);
    set(store, 'a', 2);
    store.nowMs += 6 * MINUTE_MS;
    store.run('stream.sweep');
    expect(store.subscribe({ ...GROUP, epoch: 'e1', seq: 1 }).messages).toMatchObject([
      { seq: 2, event: { data: [2] } },
    ]);
    set(store, 'b', 3);
    expect(store.subscribe({ ...GROUP, epoch: 'e1', seq: 2 }).messages).toMatchObject([{ seq: 2 }, { seq: 3 }]);
  });

  test('[T4] are checked again while some of their events are recent', () => {
    const store = new StreamStore();
    set(store, 'a', 1);
    store.nowMs += 4 * MINUTE_MS;
    set(store, 'a', 2);
    store.nowMs += 2 * MINUTE_MS;
    expect(store.ask('stream.sweep')).toEqual({ swept: 1 });
    expect(store.ask('stream.sweep')).toEqual({ swept: 0 });
    expect(store.subscribe({ ...GROUP, epoch: 'e1', seq: 1 }).messages).toHaveLength(2);
    store.nowMs += 4 * MINUTE_MS;
    expect(store.ask('stream.sweep')).toEqual({ swept: 1 });
    expect(store.subscribe({ ...GROUP, epoch: 'e1', seq: 1 }).messages).toMatchObject([
      { event: { recovered: false } },
    ]);
  });
});

/** The state of a client that merges every message. */
class Reader {
  items = new Map<string, unknown>();
  seq: number | undefined;
  epoch = '';

  take(messages: readonly ReadMessage[]): void {
    for (const { id, seq, epoch, event } of messages) {
      const { type, data, ids = [], recovered } = event;
      if (type === 'sync' && recovered === true) expect(seq).toBe(this.seq);
      else if (type === 'sync') this.items = new Map(ids.map((name, index) => [name, (data as unknown[])[index]]));
      else {
        expect(seq).toBe((this.seq ?? 0) + 1);
        if (type === 'delete') this.items.delete(id ?? '');
        else if (type !== 'event') this.items.set(id ?? '', data);
      }
      this.seq = seq;
      this.epoch = epoch;
    }
  }
}

describe('random changes', () => {
  test('[T2] [T3] [T4] give a subscriber that returns at any time the current content', () => {
    forEachSeed(40, (random) => {
      const store = new StreamStore();
      store.limits = { ...STORE_LIMITS, streamHistoryEvents: random.between(0, 12), streamHistoryBytes: 2_000 };
      const readers = Array.from({ length: 4 }, () => new Reader());
      for (let step = 0; step < 300; step++) {
        happen(store, random);
        if (random.chance(20)) {
          const reader = random.pick(readers);
          const since = reader.seq === undefined ? {} : { epoch: reader.epoch, seq: reader.seq };
          reader.take(store.subscribe({ ...GROUP, ...since }).messages);
          expect(Object.fromEntries(reader.items)).toEqual(contentOf(store));
        }
      }
    });
  });
});

function happen(store: StreamStore, random: SeededRandom): void {
  const item_id = random.pick(['a', 'b', 'c']);
  const what = random.below(100);
  if (what < 50) set(store, item_id, random.below(100));
  else if (what < 65) store.run('stream::delete', { ...GROUP, item_id });
  else if (what < 80) store.run('stream::send', { ...GROUP, type: 't', data: 'x'.repeat(random.below(300)) });
  else if (what < 90) store.nowMs += random.below(3 * MINUTE_MS);
  else if (what < 98) store.run('stream.sweep');
  else store.epoch = `e${random.below(1_000)}`;
}

function contentOf(store: StreamStore): Record<string, unknown> {
  const list = store.ask('stream::list', { ...GROUP, include_ids: true }) as { group: { id: string; data: unknown }[] };
  return Object.fromEntries(list.group.map(({ id, data }) => [id, data]));
}
