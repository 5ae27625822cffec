// Several engines on one Redis: no change is lost, and a follower of a group gets every event of it once, in order,
// whatever happens to the connection.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { RedisStore } from '../../../src/store/redis/store.ts';
import type { Store, StoreEvent } from '../../../src/store/thread/contract.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';
import {
  createExtStore,
  type ExtStoreSetup,
  newKeyPrefix,
  removeKeys,
  startExtStore,
} from '../../support/stores/ext-store.ts';
import { NO_REDIS_SERVER, RedisServer, SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { run } from '../../support/stores/store-commands.ts';
import { waitFor } from '../../support/wait-for.ts';
import { messageOf, subscribe } from './stream-contract.ts';

const keyPrefix = newKeyPrefix();
const stores: RedisStore[] = [];
let streams = 0;

afterEach(() => {
  for (const store of stores.splice(0)) store.stop();
});
afterAll(() => removeKeys(keyPrefix));

async function start(setup: ExtStoreSetup = {}): Promise<RedisStore> {
  const store = await startExtStore({ keyPrefix, ...setup });
  stores.push(store);
  return store;
}

const newPlace = () => ({ stream: `s${++streams}`, group: 'g' });

type Place = ReturnType<typeof newPlace>;

const namesOf = ({ stream, group }: Place) => ({ stream_name: stream, group_id: group });

const set = (store: Store, place: Place, data: unknown) =>
  run(store, 'stream::set', { ...namesOf(place), item_id: 'i', data });

/** Follows a group as the stream module does. */
class Follower {
  readonly events: StoreEvent[] = [];
  resets = 0;
  readonly stop: () => void;

  private constructor(store: Store, place: Place) {
    const event = (one: StoreEvent): void => void this.events.push(one);
    this.stop = store.watch(place, { event, reset: () => void this.resets++ });
  }

  static async of(store: Store, place: Place): Promise<Follower> {
    const follower = new Follower(store, place);
    const { error } = await subscribe(store, namesOf(place));
    expect(error).toBeUndefined();
    return follower;
  }

  get data(): unknown[] {
    return this.events.map((event) => messageOf(event).event.data);
  }
}

/** Ends every subscribed connection, as Redis does with one that reads too slowly. */
async function cutListeners(url: string): Promise<void> {
  const client = await createClient({ url }).connect();
  await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'PUBSUB']);
  client.destroy();
}

describe('two engines that write', () => {
  test.each([
    ['state::update', { scope: 's', key: 'n' }],
    ['stream::update', { stream_name: 'n', group_id: 'g', item_id: 'n' }],
  ])(
    '[S3] %s: increments of both end at exactly their number, and each saw a number of its own',
    async (command, at) => {
      const [one, two] = [await start(), await start()];
      const ops = [{ type: 'increment', path: 'n', by: 1 }];
      const replies = await Promise.all(
        Array.from({ length: 400 }, (_, index) => run(index % 2 ? one : two, command, { ...at, ops })),
      );
      const seen = replies.map(({ value }) => Object(value).new_value.n);
      expect([...seen].sort((a, b) => a - b)).toEqual(replies.map((_, index) => index + 1));
    },
  );

  test('[S2] an update that another engine overtook is computed again, and returns the value it really replaced', async () => {
    const [one, two] = [await start(), await start()];
    const at = { scope: 'pairs', key: 'k' };
    const ops = [{ type: 'append', path: 'list', value: 1 }];
    const writes = Array.from({ length: 50 }, (_, n) => run(two, 'state::set', { ...at, value: { list: [], n } }));
    const updates = Array.from({ length: 50 }, () => run(one, 'state::update', { ...at, ops }));
    const replies = await Promise.all([...updates, ...writes]);
    const pairs = replies.map(({ value }) => Object(value));
    const olds = pairs.map(({ old_value }) => JSON.stringify(old_value)).sort();
    const last = (await run(one, 'state::get', at)).text;
    const news = pairs.map(({ new_value }) => JSON.stringify(new_value)).filter((text) => text !== last);
    // Every value but the last was replaced by another writer that reports it; the first replaced nothing.
    expect(olds.filter((text) => text === 'null')).toHaveLength(1);
    expect(new Set(news.filter((text) => !olds.includes(text)))).toEqual(new Set());
  });
});

describe('an engine that follows a group', () => {
  test('[T2] gets the events of all engines, each once, in the order of their numbers', async () => {
    const [one, two] = [await start(), await start()];
    const place = newPlace();
    const followers = [await Follower.of(one, place), await Follower.of(two, place)];
    const replies = await Promise.all(Array.from({ length: 300 }, (_, n) => set(n % 2 ? one : two, place, n)));
    await waitFor('all events have arrived', () => followers.every(({ events }) => events.length >= 300));
    const own = replies.flatMap(({ events = [] }) => events).sort((a, b) => a.seq - b.seq);
    for (const { events, resets } of followers) {
      expect(resets).toBe(0);
      expect(events.map(({ seq }) => seq)).toEqual(own.map(({ seq }) => seq));
      expect(events.map((event) => messageOf(event))).toEqual(own.map((event) => messageOf(event)));
    }
  });

  test('[T1] has notified its own followers of a change when the change is answered', async () => {
    const [one, two] = [await start(), await start()];
    const place = newPlace();
    const follower = await Follower.of(one, place);
    for (let n = 0; n < 50; n++) {
      const others = [set(two, place, `other ${n}`), set(two, place, `more ${n}`)];
      await set(one, place, n);
      expect(follower.data).toContain(n);
      await Promise.all(others);
    }
    expect(follower.resets).toBe(0);
  });

  test('[T3] [T4] passes a group on to a subscriber that comes to another engine, with nothing missing', async () => {
    const [one, two] = [await start(), await start()];
    const place = newPlace();
    const { at } = await subscribe(one, namesOf(place));
    for (const n of [1, 2, 3]) await set(one, place, n);
    const { messages } = await subscribe(two, { ...namesOf(place), epoch: at.epoch, seq: at.seq + 1 });
    expect(messages.map(({ event }) => event.data ?? event.recovered)).toEqual([true, 2, 3]);
  });

  test('subscribes to its groups only, and only while they have a follower', async () => {
    const [one, two] = [await start(), await start()];
    const [place, other] = [newPlace(), newPlace()];
    const follower = await Follower.of(one, place);
    await set(two, other, 'unheard');
    await set(two, place, 'heard');
    await waitFor('the event has arrived', () => follower.events.length === 1);
    follower.stop();
    const client = await createClient({ url: SHARED_REDIS }).connect();
    await waitFor(
      'the subscription has ended',
      async () => (await client.pubSubChannels(`${keyPrefix}*`)).length === 0,
    );
    await set(two, place, 'unheard');
    client.destroy();
    expect(follower.data).toEqual(['heard']);
  });

  test('[T4] keeps the numbers of a silent group, which is removed when the last follower has left', async () => {
    const clock = new FakeClock();
    const one = await start({ clock });
    const place = newPlace();
    const follower = await Follower.of(one, place);
    await run(one, 'stream::send', { ...namesOf(place), type: 't', data: 1 });
    const [first] = follower.events;
    const sweepLater = async (): Promise<void> => {
      clock.advance(6 * 60_000);
      for (;;) if ((await run(one, 'stream.sweep', {})).text === '{"swept":0}') return;
    };
    await sweepLater();
    await run(one, 'stream::send', { ...namesOf(place), type: 't', data: 2 });
    expect(follower.events.map(({ seq }) => seq)).toEqual([first?.seq, (first?.seq ?? 0) + 1]);
    follower.stop();
    const client = await createClient({ url: SHARED_REDIS }).connect();
    await waitFor(
      'the subscription has ended',
      async () => (await client.pubSubChannels(`${keyPrefix}*`)).length === 0,
    );
    await sweepLater();
    expect(await client.keys(`${keyPrefix}stream:{${place.stream}/*`)).toEqual([]);
    client.destroy();
    expect((await subscribe(one, namesOf(place))).at.seq).toBeGreaterThan(first?.seq ?? 0);
  });
});

describe.skipIf(NO_REDIS_SERVER)(`a Redis that goes away and is available again ${NO_REDIS_SERVER ?? ''}`, () => {
  const setupOf = ({ url }: RedisServer) => ({ url, keyPrefix: 'svc:' });

  test('[T2] [T4] events that were published while no engine could receive them are read from the history', async () => {
    await using server = await RedisServer.start();
    const [one, two] = [await start(setupOf(server)), await start(setupOf(server))];
    const place = newPlace();
    const follower = await Follower.of(one, place);
    for (let round = 0; round < 5; round++) {
      const cut = cutListeners(server.url);
      await Promise.all(Array.from({ length: 20 }, (_, n) => set(two, place, 20 * round + n)));
      await cut;
      await waitFor('the listening is back', () => one.trouble === undefined && two.trouble === undefined);
    }
    await waitFor('all events have arrived', () => follower.events.length >= 100, 10_000);
    expect(follower.data).toEqual(Array.from({ length: 100 }, (_, n) => n));
    expect(follower.resets).toBe(0);
  });

  test('[K3] fails every command at once while it is away, and continues by itself', { timeout: 20_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-redis-'));
    await using server = await RedisServer.reserve();
    await server.start(folder);
    const store = await start(setupOf(server));
    const place = newPlace();
    const follower = await Follower.of(store, place);
    await set(store, place, 'before');
    await server.stop();
    await waitFor('the loss is noticed', () => store.trouble);
    for (const command of ['state::get', 'state::set', 'stream::set', 'stream.subscribe']) {
      const input = { scope: 's', key: 'k', value: 1, ...namesOf(place), item_id: 'i', data: 1 };
      expect((await run(store, command, input)).error).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    }
    await server.start(folder);
    await waitFor('the store is healthy again', () => store.trouble === undefined, 10_000);
    // What was acknowledged is there, and the follower still follows.
    expect((await run(store, 'stream::get', { ...namesOf(place), item_id: 'i' })).value).toEqual({ value: 'before' });
    const other = await start(setupOf(server));
    await set(other, place, 'after');
    await waitFor('the second event has arrived', () => follower.events.length === 2);
    expect([follower.data, follower.resets]).toEqual([['before', 'after'], 0]);
    rmSync(folder, { recursive: true, force: true });
  });

  test('[T4] that has lost everything begins a new epoch, and every follower reads again', {
    timeout: 20_000,
  }, async () => {
    await using server = await RedisServer.start();
    const store = await start(setupOf(server));
    const place = newPlace();
    const follower = await Follower.of(store, place);
    await set(store, place, 1);
    const [first] = follower.events.map(messageOf);
    await server.stop();
    await waitFor('the loss is noticed', () => store.trouble);
    await server.start();
    await waitFor('the follower reads again', () => follower.resets === 1, 10_000);
    const since = { epoch: first?.epoch, seq: first?.seq };
    const { at, messages } = await subscribe(store, { ...namesOf(place), ...since });
    expect(at.epoch).not.toBe(first?.epoch);
    expect(messages).toMatchObject([{ event: { type: 'sync', data: [], recovered: false } }]);
    await set(store, place, 2);
    expect(follower.data).toEqual([1, 2]);
  });

  test('[T4] that was set back to before an event makes followers read again', { timeout: 20_000 }, async () => {
    await using server = await RedisServer.start();
    const [store, other] = [await start(setupOf(server)), await start(setupOf(server))];
    const place = newPlace();
    const follower = await Follower.of(store, place);
    const client = await createClient({ url: server.url }).connect();
    await set(other, place, 'kept');
    const head = `svc:stream:{${place.stream}/g}:head`;
    const history = await client.lRange(`svc:stream:{${place.stream}/g}:history`, 0, -1);
    await set(other, place, 'lost');
    await waitFor('both events have arrived', () => follower.events.length === 2);
    await client.hSet(head, { seq: '1', tag: history[0]?.split('\n')[3] ?? '' });
    await client.lTrim(`svc:stream:{${place.stream}/g}:history`, 0, 0);
    // The number of the lost event is given again, to another one.
    await set(other, place, 'instead');
    await cutListeners(server.url);
    await waitFor('the follower reads again', () => follower.resets === 1, 10_000);
    // A subscriber that holds the lost event and comes to another engine is not taken for one that knows the other
    // event.
    const [, lost] = follower.events.map(messageOf);
    const { messages } = await subscribe(other, { ...namesOf(place), epoch: lost?.epoch, seq: lost?.seq });
    expect(messages).toMatchObject([{ event: { type: 'sync', data: ['instead'], recovered: false } }]);
    client.destroy();
  });

  test('[K3] at the start: the engine waits 60 s for it, then ends with 75', async () => {
    await using server = await RedisServer.reserve();
    const clock = new FakeClock();
    const store = createExtStore({ ...setupOf(server), clock });
    const started = store.start().catch((error: unknown) => error);
    await waitFor('the first attempt has failed', () => store.trouble?.includes('ECONNREFUSED'));
    clock.advance(60_000);
    expect(await started).toMatchObject({ exitCode: 75, message: expect.stringContaining('Tried for 60 s') });
  });

  test('[K3] at the start: one that comes late is used', { timeout: 20_000 }, async () => {
    await using server = await RedisServer.reserve();
    const store = createExtStore(setupOf(server));
    stores.push(store);
    expect((await run(store, 'state::get', { scope: 's', key: 'k' })).error?.code).toBe('STORAGE_UNAVAILABLE');
    const started = store.start();
    await waitFor('the first attempt has failed', () => store.trouble?.includes('ECONNREFUSED'));
    await server.start();
    await started;
    expect(store.trouble).toBeUndefined();
  });

  test('[PD-55] weaker settings are accepted, with a warning and the weaker promise in health', async () => {
    const log: string[] = [];
    await using server = await RedisServer.start();
    const store = await start({ ...setupOf(server), log });
    await waitFor('the settings are read', () => store.details.weaker_promise);
    expect(store.details.weaker_promise).toBe('appendonly is off: what was acknowledged is lost when Redis ends');
    expect(log.join('\n')).toMatch(/WARN.*promises less/i);
  });

  test('[D4] a Redis that is full refuses writes that grow, and still deletes', async () => {
    await using server = await RedisServer.start();
    const store = await start(setupOf(server));
    const place = newPlace();
    await run(store, 'state::set', { scope: 's', key: 'k', value: 1 });
    await set(store, place, 1);
    const client = await createClient({ url: server.url }).connect();
    await client.configSet('maxmemory', '1');
    for (const [command, input] of [
      ['state::set', { scope: 's', key: 'l', value: 1 }],
      ['stream::set', { ...namesOf(place), item_id: 'other', data: 1 }],
    ] as const) {
      expect((await run(store, command, input)).error?.code).toBe('STORAGE_FULL');
    }
    expect((await run(store, 'state::delete', { scope: 's', key: 'k' })).value).toBe(1);
    const deleted = await run(store, 'stream::delete', { ...namesOf(place), item_id: 'i' });
    expect(deleted.value).toEqual({ old_value: 1 });
    await client.configSet('maxmemory', '0');
    expect((await run(store, 'stream::list', namesOf(place))).value).toEqual({ group: [] });
    client.destroy();
  });
});
