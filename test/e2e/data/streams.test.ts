// The stream server over real sockets, on both transports: what it sends, in which order, and to which clients.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { tryUpgrade } from '../../support/clients/upgrade.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { startStreamEngine } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { onBothTransports } from '../both-transports.ts';

const ROOM = { stream_name: 'chat', group_id: 'room 1' };
const ROOM_PATH = '/stream/chat/room%201/';
const JOIN = { subscriptionId: 's1', streamName: 'chat', groupId: 'room 1' };

onBothTransports('streams', () => {
  test('[T1] [T3] a client that subscribes by its path gets a snapshot and then every event', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.call('stream::set', { ...ROOM, item_id: 'a', data: { n: 1 } });
    await using client = await StreamClient.connect(engine.streams, ROOM_PATH);
    const sync = await client.nextOf('sync');
    expect(sync).toMatchObject({
      ...{ type: 'stream', streamName: 'chat', groupId: 'room 1', id: null, seq: 1 },
      event: { type: 'sync', data: [{ n: 1 }], ids: ['a'], recovered: false },
    });
    const { result } = await worker.call('stream::set', { ...ROOM, item_id: 'b', data: [true] });
    expect(result).toEqual({ old_value: null, new_value: [true] });
    expect(await client.next()).toMatchObject({ id: 'b', seq: 2, event: { type: 'create', data: [true] } });
    await worker.call('stream::set', { ...ROOM, item_id: 'b', data: 7 });
    expect(await client.next()).toMatchObject({ id: 'b', seq: 3, event: { type: 'update', data: 7 } });
    await worker.call('stream::delete', { ...ROOM, item_id: 'b' });
    expect(await client.next()).toMatchObject({ id: 'b', seq: 4, event: { type: 'delete', data: 7 } });
    await worker.call('stream::send', { ...ROOM, type: 'typing', data: { who: 'x' } });
    expect(await client.next()).toMatchObject({
      ...{ id: null, seq: 5 },
      event: { type: 'event', event: { type: 'typing', data: { who: 'x' } } },
    });
  });

  test('[T1] a subscriber that gets an event reads a value at least as new', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using client = await StreamClient.connect(engine.streams, ROOM_PATH);
    await client.nextOf('sync');
    for (let n = 0; n < 50; n++) worker.startCall('stream::set', { ...ROOM, item_id: 'a', data: n });
    for (let n = 0; n < 50; n++) {
      const message = await client.next();
      expect(message.event.data).toBe(n);
      const { result } = await worker.call('stream::get', { ...ROOM, item_id: 'a' });
      expect((result as { value: number }).value).toBeGreaterThanOrEqual(n);
    }
  });

  test('[T3] a subscription to one item gets its value and its events only', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using client = await StreamClient.connect(engine.streams, `${ROOM_PATH}a`);
    expect((await client.nextOf('sync')).event.data).toBe(null);
    await worker.call('stream::set', { ...ROOM, item_id: 'b', data: 1 });
    await worker.call('stream::send', { ...ROOM, type: 'ping', data: 1 });
    await worker.call('stream::send', { ...ROOM, type: 'ping', id: 'a', data: 2 });
    await worker.call('stream::set', { ...ROOM, item_id: 'a', data: 3 });
    expect(await client.next()).toMatchObject({ id: 'a', seq: 3, event: { type: 'event', event: { data: 2 } } });
    expect(await client.next()).toMatchObject({ id: 'a', seq: 4, event: { type: 'create', data: 3 } });
  });

  test('[modules 4.3] a client joins and leaves groups in addition to the one of its path', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using client = await StreamClient.connect(engine.streams, '/stream/other/g');
    expect(await client.nextOf('sync')).toMatchObject({ streamName: 'other' });
    client.join(JOIN);
    expect(await client.nextOf('sync')).toMatchObject({ streamName: 'chat', groupId: 'room 1' });
    await worker.call('stream::set', { ...ROOM, item_id: 'a', data: 1 });
    expect(await client.next()).toMatchObject({ event: { type: 'create', data: 1 } });
    client.leave(JOIN);
    client.join({ ...JOIN, subscriptionId: 's2', id: 'zz' });
    await client.nextOf('sync');
    await worker.call('stream::set', { ...ROOM, item_id: 'a', data: 2 });
    await worker.call('stream::set', { stream_name: 'other', group_id: 'g', item_id: 'x', data: 3 });
    expect(await client.next()).toMatchObject({ streamName: 'other', event: { data: 3 } });
  });

  test('[modules 4.3] an invalid message is answered with its error, and the connection stays open', async () => {
    await using engine = await startStreamEngine();
    await using client = await StreamClient.connect(engine.streams);
    const wrong = [
      'nonsense',
      '{}',
      '{"type":"join"}',
      { type: 'dance', data: JOIN },
      { type: 'join', data: { ...JOIN, groupId: 7 } },
    ];
    for (const message of wrong) {
      client.say(message);
      const { data } = (await client.nextOf('error')).event;
      expect(data).toMatchObject({ code: 'BAD_REQUEST', message: expect.stringMatching(/'\w|object, found/) });
    }
    client.join({ ...JOIN, streamName: 'a\u0000b' });
    expect((await client.nextOf('error')).event.data).toMatchObject({ message: expect.stringContaining('control') });
    client.say('  ');
    client.join(JOIN);
    await client.nextOf('sync');
  });

  test('[T5] an invalid value of conflate is refused by an error that names the field', async () => {
    await using engine = await startStreamEngine();
    await using client = await StreamClient.connect(engine.streams);
    client.join({ ...JOIN, conflate: 'yes' });
    expect((await client.nextOf('error')).event.data).toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringMatching(/'data\.conflate' must be .*boolean.*, found/),
    });
    for (const value of [true, false, null]) {
      client.join({ ...JOIN, conflate: value });
      await client.nextOf('sync');
    }
    for (const query of ['conflate=yes', 'conflate=', 'conflate=1', 'conflate=TRUE']) {
      const path = `${ROOM_PATH}?${query}`;
      const { status, text } = await tryUpgrade(Number(new URL(engine.streams).port), { path });
      expect([status, text]).toEqual([400, expect.stringContaining('conflate must be true or false')]);
    }
    for (const query of ['conflate=true', 'conflate=false']) {
      await using asked = await StreamClient.connect(engine.streams, `${ROOM_PATH}?${query}`);
      await asked.nextOf('sync');
    }
  });

  test('[T4] a client that returns gets the events it missed, or a snapshot if the epoch changed', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    const first = await StreamClient.connect(engine.streams, ROOM_PATH);
    const { epoch } = await first.nextOf('sync');
    await worker.call('stream::set', { ...ROOM, item_id: 'a', data: 1 });
    await first.nextOf('create');
    await first[Symbol.asyncDispose]();
    await worker.call('stream::set', { ...ROOM, item_id: 'a', data: 2 });
    await worker.call('stream::send', { ...ROOM, type: 'x', data: 3 });
    await using second = await StreamClient.connect(engine.streams, `${ROOM_PATH}?epoch=${epoch}&seq=1`);
    expect(await second.nextOf('sync')).toMatchObject({ seq: 1, event: { recovered: true } });
    expect(await second.next()).toMatchObject({ seq: 2, event: { type: 'update', data: 2 } });
    expect(await second.next()).toMatchObject({ seq: 3, event: { type: 'event' } });
    await using third = await StreamClient.connect(engine.streams);
    third.join({ ...JOIN, epoch: 'another', seq: 1 });
    expect(await third.nextOf('sync')).toMatchObject({ seq: 3, event: { recovered: false, data: [2] } });
  });

  test('[W1] a ping message is answered with a pong message, in both subprotocols', async () => {
    await using engine = await startStreamEngine();
    for (const subprotocols of [[], ['svc.stream.v1']]) {
      await using client = await StreamClient.connect(engine.streams, ROOM_PATH, { subprotocols });
      client.socket.send('{"type":"ping"}');
      await client.until(({ type }) => type === 'pong');
    }
  });

  test('[T6] a client with the batching subprotocol gets several events in one frame', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using plain = await StreamClient.connect(engine.streams, ROOM_PATH);
    await using batched = await StreamClient.connect(engine.streams, ROOM_PATH, { subprotocols: ['svc.stream.v1'] });
    expect(batched.socket.protocol).toBe('svc.stream.v1');
    await plain.nextOf('sync');
    await batched.nextOf('sync');
    for (let n = 0; n < 200; n++) worker.startCall('stream::set', { ...ROOM, item_id: String(n), data: n });
    await batched.until(({ seq }) => seq === 200);
    await plain.until(({ seq }) => seq === 200);
    expect(batched.messages.slice(1)).toEqual(plain.messages.slice(1));
    expect(plain.frameCount).toBe(201);
    expect(batched.frameCount).toBeLessThan(100);
  });

  test('[T5] a client that does not read is closed with 4408, and other clients miss no event', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using slow = await StreamClient.connect(engine.streams, ROOM_PATH, { autoPong: false });
    await using good = await StreamClient.connect(engine.streams, ROOM_PATH);
    await slow.nextOf('sync');
    await good.nextOf('sync');
    slow.socket.pause();
    const data = 'x'.repeat(100_000);
    let sent = 0;
    await waitFor('the slow client is counted', async () => {
      await worker.call('stream::set', { ...ROOM, item_id: 'a', data });
      sent += 1;
      return engine.counters.get('streams.closed', 'too_slow') === 1;
    });
    slow.socket.resume();
    expect((await slow.closed).code).toBe(4408);
    const seen = await good.until(({ seq }) => seq === sent);
    expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
    // The events that it received have no gap either, so it can recover from the last one.
    const got = slow.messages.slice(1).map(({ seq }) => seq);
    expect(got).toEqual(Array.from({ length: got.length }, (_, index) => index + 1));
  });

  test('[modules 4.6] stream triggers fire for their stream, group and item, with the kind of change as type', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    const heard: [string, unknown][] = [];
    const bind = async (name: string, config: object): Promise<void> => {
      await worker.serve(`on::${name}`, (data) => void heard.push([name, data]));
      worker.send({ type: 'registertrigger', id: name, trigger_type: 'stream', function_id: `on::${name}`, config });
    };
    await bind('all', { stream_name: 'chat' });
    await bind('item', { stream_name: 'chat', group_id: 'room 1', item_id: 'a', include_events: true });
    await bind('other', { stream_name: 'other' });
    await worker.settled();
    await worker.call('stream::set', { ...ROOM, item_id: 'a', data: 1 });
    await worker.call('stream::send', { ...ROOM, type: 'hi', id: 'a', data: 2 });
    await worker.call('stream::delete', { ...ROOM, item_id: 'a' });
    await waitFor('all triggers have fired', () => heard.length === 5);
    const facts = { streamName: 'chat', groupId: 'room 1', id: 'a' };
    const create = expect.objectContaining({ ...facts, type: 'create', event: { type: 'create', data: 1 } });
    const hi = expect.objectContaining({
      ...facts,
      type: 'event',
      event: { type: 'event', event: { type: 'hi', data: 2 } },
    });
    const gone = expect.objectContaining({ ...facts, type: 'delete', event: { type: 'delete', data: 1 } });
    expect(heard).toEqual([
      ['all', create],
      ['item', create],
      ['item', hi],
      ['all', gone],
      ['item', gone],
    ]);
    worker.send({ type: 'registertrigger', id: 'bad', trigger_type: 'stream', function_id: 'on::all', config: {} });
    const refusal = await worker.next('triggerregistrationresult');
    expect(refusal.error).toMatchObject({ code: 'trigger_registration_failed' });
  });

  test('[T8] a trigger whose condition returns false or fails does not fire', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    const heard: unknown[] = [];
    await worker.serve('on::change', (data) => void heard.push((data as { event: { data: unknown } }).event.data));
    await worker.serve('is::even', (data) => {
      const n = Number((data as { event: { data: unknown } }).event.data);
      if (n === 5) throw new Error('five');
      return n % 2 === 0;
    });
    const config = { stream_name: 'chat', condition_function_id: 'is::even' };
    worker.send({ type: 'registertrigger', id: 'c', trigger_type: 'stream', function_id: 'on::change', config });
    await worker.settled();
    for (let n = 1; n <= 6; n++) await worker.call('stream::set', { ...ROOM, item_id: 'a', data: n });
    await waitFor('the last event has fired', () => heard.includes(6));
    expect(heard).toEqual([2, 4, 6]);
    await expectCount(engine, 1, 'triggers.condition_failed');
  });

  test('[wire 3.1] changes of a stream that a worker keeps reach its subscribers', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    const rows = new Map<string, unknown>();
    type Asked = { readonly item_id: string; readonly data: unknown };
    await worker.serve('stream::set(db)', (input) => {
      const { item_id, data } = input as Asked;
      const old_value = rows.get(item_id) ?? null;
      rows.set(item_id, data);
      return { old_value, new_value: data };
    });
    await worker.serve('stream::list(db)', () => [...rows.values()]);
    await worker.serve('stream::get(db)', (input) => rows.get((input as Asked).item_id) ?? null);
    const place = { stream_name: 'db', group_id: 'g' };
    await worker.call('stream::set', { ...place, item_id: 'a', data: 1 });
    await using client = await StreamClient.connect(engine.streams, '/stream/db/g');
    expect(await client.nextOf('sync')).toMatchObject({ seq: 1, event: { data: [1] } });
    const { result } = await worker.call('stream::set', { ...place, item_id: 'a', data: 2 });
    expect(result).toEqual({ old_value: 1, new_value: 2 });
    expect(await client.next()).toMatchObject({ id: 'a', seq: 2, event: { type: 'update', data: 2 } });
    expect((await worker.call('stream::get', { ...place, item_id: 'a' })).result).toBe(2);
    expect((await worker.call('stream::list_all')).result).toEqual({ stream: [], count: 0 });
  });

  test('[wire 3.1] an item of a stream that a worker keeps arrives unchanged, whatever the names of its fields', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    const digits = '12345678901234567890';
    const items = new Map<string, unknown>([
      ['exact', { n: JSON.rawJSON(digits) }],
      ['bare', { group: 'admins', value: 7, name: 'ann' }],
      ['wrapped', { value: { group: 'admins' } }],
      ['list', [{ value: 1 }]],
      ['nothing', null],
    ]);
    await worker.serve('stream::get(db)', (input) => items.get((input as { item_id: string }).item_id));
    await worker.serve('stream::list(db)', () => ({ group: [{ group: 'admins' }] }));
    const dataOf = async (path: string): Promise<unknown> => {
      await using client = await StreamClient.connect(engine.streams, path);
      return (await client.nextOf('sync')).event.data;
    };
    expect(await dataOf('/stream/db/g/bare')).toEqual({ group: 'admins', value: 7, name: 'ann' });
    expect(await dataOf('/stream/db/g/wrapped')).toEqual({ group: 'admins' });
    expect(await dataOf('/stream/db/g/list')).toEqual([{ value: 1 }]);
    expect(await dataOf('/stream/db/g/nothing')).toBeNull();
    expect(await dataOf('/stream/db/g')).toEqual([{ group: 'admins' }]);
    await using client = await StreamClient.connect(engine.streams);
    const frames: string[] = [];
    client.socket.on('message', (text) => frames.push(String(text)));
    client.join({ subscriptionId: 's', streamName: 'db', groupId: 'g', id: 'exact' });
    await client.nextOf('sync');
    await worker.serve('stream::set(db)', () => ({ old_value: 1, new_value: items.get('exact') }));
    await worker.call('stream::set', { stream_name: 'db', group_id: 'g', item_id: 'exact', data: 0 });
    await client.nextOf('update');
    expect(frames.filter((text) => text.includes(`"data":{"n":${digits}}`))).toHaveLength(2);
  });
});
