// Streams with several routers: each serves its own clients, and no client notices which one serves it.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient, type StreamMessage } from '../../support/clients/stream-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';
import { startStreamEngine, streamClientsOf, streamYaml } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

/** So many that every router has some of them. */
const CLIENTS = 12;
const CHANGES = 40;
const ROOM = { stream_name: 'chat', group_id: 'room' };
const PATH = '/stream/chat/room/';

function startTwoRouters(config = '', top = '') {
  return startStreamEngine(config, top, undefined, 2);
}

function connectAll<T>(connect: (at: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: CLIENTS }, (_, at) => connect(at)));
}

async function closeAll(clients: readonly StreamClient[], workers: readonly RawWorker[]): Promise<void> {
  for (const client of clients) await client[Symbol.asyncDispose]();
  for (const worker of workers) worker.close();
}

describe('limits of the port on two routers', () => {
  test('[RO12] connections of one address are counted on both routers together', async () => {
    const limits = 'limits: {stream: {connections_per_address: 6, connections_per_second_per_address: 1000}}';
    await using engine = await startTwoRouters('', `trusted_proxies: [127.0.0.1]\n${limits}`);
    const connectFrom = (address: string) =>
      StreamClient.connect(engine.streams, PATH, { headers: { 'x-forwarded-for': address } }).catch(() => undefined);
    const clients = await connectAll(() => connectFrom('203.0.113.7'));
    const admitted = clients.filter((client) => client !== undefined);
    expect(admitted).toHaveLength(6);
    const another = await connectFrom('203.0.113.8');
    expect(another).toBeDefined();
    await admitted.pop()?.[Symbol.asyncDispose]();
    const next = await waitFor('the address has a place again', () => connectFrom('203.0.113.7'));
    await closeAll(
      [...admitted, another, next].filter((client) => client !== undefined),
      [],
    );
  });
});

describe('streams of two routers', () => {
  test('[RO16] [T2] clients on both get every change of workers on both, in one order', async () => {
    await using engine = await startTwoRouters();
    const workers = await connectAll(() => RawWorker.connect(engine.url));
    const clients = await connectAll(() => StreamClient.connect(engine.streams, PATH));
    for (const client of clients) await client.nextOf('sync');
    const changes = Array.from({ length: CHANGES }, (_, n) =>
      workers[n % CLIENTS]?.call('stream::set', { ...ROOM, item_id: `${n}`, data: n }),
    );
    await Promise.all(changes);
    const seen: StreamMessage[][] = [];
    for (const client of clients) seen.push(await client.until(({ seq }) => seq === CHANGES));
    const [first = []] = seen;
    expect(first.map(({ seq }) => seq)).toEqual(Array.from({ length: CHANGES }, (_, n) => n + 1));
    for (const messages of seen) expect(messages).toEqual(first);
    await closeAll(clients, workers);
  });

  test('[RO16] [T3] a client that joins while changes are made misses none and gets none twice', async () => {
    await using engine = await startTwoRouters();
    await using worker = await RawWorker.connect(engine.url);
    const clients: StreamClient[] = [];
    for (let n = 0; n < CLIENTS; n++) {
      const changes = Array.from({ length: CHANGES }, (_, at) =>
        worker.call('stream::update', { ...ROOM, item_id: 'n', ops: [{ type: 'increment', path: 'n', by: 1 }], at }),
      );
      clients.push(await StreamClient.connect(engine.streams, PATH));
      await Promise.all(changes);
    }
    const last = CLIENTS * CHANGES;
    for (const client of clients) {
      const { seq: start = 0, event } = await client.nextOf('sync');
      expect(event.data).toEqual(start === 0 ? [] : [{ n: start }]);
      const rest = start === last ? [] : await client.until(({ seq }) => seq === last);
      expect(rest.map(({ seq }) => seq)).toEqual(Array.from({ length: last - start }, (_, at) => start + at + 1));
    }
    await closeAll(clients, []);
  });

  test('[RO16] [T7] handlers decide each join and get each leave once, also those of an engine that stops', async () => {
    const engine = await startTwoRouters();
    await using worker = await RawWorker.connect(engine.url);
    const left: string[] = [];
    await worker.serve('join', (data) => ({
      unauthorized: (data as { subscription_id: string }).subscription_id.endsWith('!'),
    }));
    await worker.serve('leave', (data) => {
      left.push((data as { subscription_id: string }).subscription_id);
      return null;
    });
    for (const event of ['join', 'leave']) {
      worker.send({
        type: 'registertrigger',
        id: event,
        trigger_type: `stream:${event}`,
        function_id: event,
        config: {},
      });
    }
    await worker.settled();
    const clients = await connectAll(() => StreamClient.connect(engine.streams));
    for (const [at, client] of clients.entries()) {
      client.join({ subscriptionId: `${at}!`, streamName: 'chat', groupId: 'room' });
      await client.nextOf('unauthorized');
      client.join({ subscriptionId: `${at}`, streamName: 'chat', groupId: 'room' });
      await client.nextOf('sync');
      client.join({ subscriptionId: `${at} stays`, streamName: 'chat', groupId: 'other' });
      await client.nextOf('sync');
      client.leave({ subscriptionId: `${at}`, streamName: 'chat', groupId: 'room' });
    }
    await waitFor('all have left', () => left.length === CLIENTS);
    expect(left.splice(0).sort()).toEqual([...clients.keys()].map(String).sort());
    await engine.drain();
    expect(left.sort()).toEqual([...clients.keys()].map((at) => `${at} stays`).sort());
    await closeAll(clients, []);
  });

  test('[RO16] [X6] the auth function decides for clients of both', async () => {
    await using engine = await startTwoRouters('auth_function: auth');
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('auth', (data) => {
      const { addr, query_params } = data as { addr: string; query_params: Record<string, string[]> };
      if (query_params.pass?.[0] !== 'yes') throw new Error('no');
      return { context: { addr } };
    });
    const clients = await connectAll(() => StreamClient.connect(engine.streams, `${PATH}?pass=yes`));
    for (const client of clients) await client.nextOf('sync');
    await expect(connectAll(() => StreamClient.connect(engine.streams, `${PATH}?pass=no`))).rejects.toThrow('401');
    await closeAll(clients, []);
  });

  test('[RO16] [X6] clients of both stay connected when the auth function has answered', async () => {
    // Freed memory is overwritten, so that whatever still reads it finds what it should not.
    const entrance = ['env', 'MALLOC_PERTURB_=16'];
    await using engine = await EngineProcess.start(streamYaml('auth_function: auth'), { threads: 2, entrance });
    const [workers = '', streams = ''] = engine.urls;
    await using worker = await RawWorker.connect(workers);
    await worker.serve('auth', () => ({ context: {} }));
    const clients = await connectAll(() => StreamClient.connect(streams, PATH));
    for (const client of clients) await client.nextOf('sync');
    await worker.call('stream::set', { ...ROOM, item_id: 'a', data: 1 });
    for (const client of clients) await client.nextOf('create');
    await closeAll(clients, []);
    // The router without the worker has no other connection then.
    for (let at = 0; at < CLIENTS; at++) {
      await using client = await StreamClient.connect(streams, PATH);
      await client.nextOf('sync');
      await worker.call('stream::set', { ...ROOM, item_id: 'a', data: at });
      await client.nextOf('update');
    }
    expect(engine.stderr).not.toContain('Warning');
  });

  test('[RO16] a stream that a worker keeps itself is read from it by clients of both', async () => {
    await using engine = await startTwoRouters();
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('stream::list(chat)', () => [{ kept: 'elsewhere' }]);
    const clients = await connectAll(() => StreamClient.connect(engine.streams, PATH));
    for (const client of clients) expect((await client.nextOf('sync')).event.data).toEqual([{ kept: 'elsewhere' }]);
    await closeAll(clients, []);
  });

  test('[RO12] the limit of connections holds for both together', async () => {
    await using engine = await startTwoRouters('', `limits: {stream: {connections: ${CLIENTS}}}`);
    await using worker = await RawWorker.connect(engine.url);
    const clients = await connectAll(() => StreamClient.connect(engine.streams, PATH));
    await expect(StreamClient.connect(engine.streams, PATH)).rejects.toThrow('503');
    expect(await streamClientsOf(worker)).toBe(CLIENTS);
    await clients.pop()?.[Symbol.asyncDispose]();
    await waitFor('a place is free', async () => (await streamClientsOf(worker)) === CLIENTS - 1);
    clients.push(await StreamClient.connect(engine.streams, PATH));
    await closeAll(clients, []);
  });

  test('[RO12] [T7] a reload that removes the streams closes the clients of both, and each leave is sent', async () => {
    using folder = new TemporaryFolder();
    const configFile = join(folder.path, 'svc-config.yaml');
    await writeFile(configFile, streamYaml());
    await using engine = await startTestEngine({ configFile, threads: 2 });
    await using worker = await RawWorker.connect(engine.url);
    let left = 0;
    await worker.serve('leave', () => {
      left++;
      return null;
    });
    worker.send({ type: 'registertrigger', id: 'l', trigger_type: 'stream:leave', function_id: 'leave', config: {} });
    await worker.settled();
    const clients = await connectAll(() => StreamClient.connect(engine.urls[1] ?? '', PATH));
    for (const client of clients) await client.nextOf('sync');
    await writeFile(configFile, `drain_timeout_ms: 500\n${ONE_PORT}`);
    expect(await engine.reload()).toMatchObject({ ok: true });
    for (const client of clients) expect((await client.closed).code).toBe(1001);
    await waitFor('all leave events have come', () => left === CLIENTS);
  });
});
