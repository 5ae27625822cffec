// The live socket of the console on a real engine: every topic, with its frames and items compared with the contract.
// Runs on both transports.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createWorker } from '../../../src/sdk/internal.ts';
import type { SvcWorker } from '../../../src/sdk/worker/svc-worker.ts';
import { ask, startHttpEngine } from '../../support/clients/http-engine.ts';
import {
  type ConsoleEngine,
  consoleCall,
  LiveClient,
  startConsoleEngine,
} from '../../support/telemetry/console-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const TOKEN = 'a-token-of-forty-characters-0123456789ab';

export function liveContract(transport: 'uws' | 'ws'): void {
  let engine: ConsoleEngine;
  let worker: SvcWorker;
  let live: LiveClient;

  beforeAll(async () => {
    process.env.SVC_TRANSPORT = transport;
    engine = await startConsoleEngine();
    worker = createWorker(engine.url, { worker_name: 'mailer', handle_signals: false, log: () => {} });
    await worker.ready();
    live = await LiveClient.open(urlOf(engine));
  });

  afterAll(async () => {
    delete process.env.SVC_TRANSPORT;
    live.socket.terminate();
    await worker.shutdown();
    await engine.drain();
  });

  const put = (scope: string, key: string, value: unknown) =>
    consoleCall(engine, 'PUT /states/{scope}/items/{key}', { path: [scope, key], body: { value } });

  describe(`the live socket on ${transport}`, () => {
    test('counters: one snapshot a second', async () => {
      const id = await live.subscribe('counters');
      // The first snapshot waits for the telemetry thread, which it starts. On a busy machine that takes seconds.
      await waitFor('the first snapshot', () => live.itemsOf(id).length >= 1, 15_000);
      await waitFor('the second snapshot', () => live.itemsOf(id).length >= 2);
      expect(live.itemsOf(id).at(-1)).toMatchObject({ workers: 1, queues: 2, dead_letters: 0 });
      const times = live.itemsOf(id).map((item) => Object(item).at);
      expect(times).toEqual([...new Set(times)].toSorted());
      live.send({ op: 'unsub', id });
    }, 30_000);

    test('health: the state of all components at first', async () => {
      const id = await live.subscribe('health');
      await live.item(id, 'the engine is reported', ({ kind }) => kind === 'engine');
      await live.item(id, 'state is reported', ({ kind, name }) => kind === 'module' && name === 'svc-state');
    });

    test('registry: functions and triggers that come and go', async () => {
      const id = await live.subscribe('registry');
      const own = createWorker(engine.url, { worker_name: 'guest', handle_signals: false, log: () => {} });
      await own.ready();
      own.registerFunction('guest::hello', async () => 'hello');
      own.registerTrigger({ type: 'event', function_id: 'guest::hello', config: { topic: 'hello' } });
      const added = await live.item(id, 'the function is added', (item) => item.id === 'guest::hello');
      expect(added).toMatchObject({ object: 'function', change: 'added', row: { worker_name: 'guest' } });
      await live.item(id, 'the trigger is added', ({ object, change }) => object === 'trigger' && change === 'added');
      await own.shutdown();
      await live.item(id, 'the function is removed', (item) => item.id === 'guest::hello' && item.change === 'removed');
      const versions = live.itemsOf(id).map((item) => Object(item).version);
      expect(versions).toEqual(versions.map((_, at) => versions[0] + at));
    });

    test('queues and queue:<name>: counts, and each job that changes its state', async () => {
      await consoleCall(engine, 'POST /queues/{queue}/pause', { path: ['mail'], body: {} });
      const figures = await live.subscribe('queues');
      const jobs = await live.subscribe('queue:mail');
      await live.item(figures, 'the figures of mail', ({ name }) => name === 'mail');
      const { messageReceiptId } = await consoleCall(engine, 'POST /queues/{queue}/publish', {
        path: ['mail'],
        body: { function_id: 'mail::send', payload: {} },
      });
      await live.item(figures, 'one job waits', ({ name, waiting }) => name === 'mail' && waiting === 1);
      const change = await live.item(jobs, 'the job is reported', (item) => item.id === messageReceiptId);
      expect(change).toMatchObject({ job: { state: 'waiting' }, figures: { name: 'mail' } });
    });

    test('state:<scope>: each change with its values, and nothing of other scopes', async () => {
      const id = await live.subscribe(`state:${encodeURIComponent('a/b%')}`);
      await put('other', 'k', 1);
      await put('a/b%', 'k', { n: 1 });
      await put('a/b%', 'k', 'x'.repeat(70_000));
      await consoleCall(engine, 'DELETE /states/{scope}/items/{key}', { path: ['a/b%', 'k'] });
      await live.item(id, 'the deletion', ({ change }) => change === 'deleted');
      expect(live.itemsOf(id)).toMatchObject([
        { change: 'set', scope: 'a/b%', old_value: null, new_value: { n: 1 }, type: 'object' },
        { change: 'set', size: 70_002, type: 'string' },
        { change: 'deleted', old_size: 70_002, new_value: null },
      ]);
      expect(live.itemsOf(id)[1]).not.toHaveProperty('new_value');
    });

    test('A filter limits it to keys', async () => {
      const id = await live.subscribe('state:filtered', { filter: { prefix: 'user:' } });
      await put('filtered', 'order:1', 1);
      await put('filtered', 'user:1', 1);
      await live.item(id, 'the user', ({ key }) => key === 'user:1');
      expect(live.itemsOf(id)).toHaveLength(1);
    });

    test('streams and stream:<name>/<group>: what the stream server sends', async () => {
      const all = await live.subscribe('streams');
      const one = await live.subscribe('stream:chat/room');
      const route = 'PUT /streams/{stream}/{group}/items/{id}' as const;
      await consoleCall(engine, route, { path: ['chat', 'room', 'm1'], body: { data: { text: 'hi' } } });
      await consoleCall(engine, route, { path: ['chat', 'other', 'm1'], body: { data: 1 } });
      await live.item(all, 'the other room', ({ group }) => group === 'other');
      const item = await live.item(one, 'the message', ({ item: name }) => name === 'm1');
      expect(item).toMatchObject({ direction: 'outbound', event: 'create', stream: 'chat', seq: 1, receivers: 0 });
      expect(live.itemsOf(one)).toHaveLength(1);
    });

    test('task:<id>: progress to the end', async () => {
      const { task_id } = await consoleCall(engine, 'POST /queues/{queue}/dlq/redrive', {
        path: ['mail'],
        body: { ids: ['a', 'b', 'c'] },
      });
      const id = await live.subscribe(`task:${task_id}`);
      const done = await live.item(id, 'the task is done', ({ state }) => state === 'done');
      expect(done).toMatchObject({ total: 3, skipped: 3 });
    });

    test.each(['colours', 'state:', 'colour:red', 'queue:%zz'])('the topic %j is refused', async (topic) => {
      const id = await live.subscribe(topic);
      expect(live.framesOf(id)).toMatchObject([{ error: { code: 'NOT_FOUND' } }]);
    });

    test('A topic of a module that is not loaded reports that', async () => {
      await using bare = await startHttpEngine();
      await using socket = await LiveClient.open(urlOf(bare));
      for (const topic of ['state:s', 'streams', 'queues']) {
        const id = await socket.subscribe(topic);
        await waitFor('the topic is refused', () => socket.framesOf(id).some((frame) => 'error' in frame));
        expect(socket.framesOf(id).at(-1)).toMatchObject({ error: { code: 'MODULE_MISSING' } });
      }
    });

    test('An invalid frame is answered, and the socket stays open', async () => {
      live.socket.send('{"op":"dance"}');
      live.socket.send('no json');
      await waitFor('both frames are refused', () => live.frames.filter((frame) => frame.id === undefined).length >= 2);
      expect(live.closeCode).toBeUndefined();
    });

    test('[API-1] An unsubscribed topic sends nothing more', async () => {
      const id = await live.subscribe('state:left');
      await put('left', 'k', 1);
      await live.item(id, 'the first change', () => true);
      live.send({ op: 'unsub', id });
      const other = await live.subscribe('state:left');
      await put('left', 'k', 2);
      await live.item(other, 'the second change', () => true);
      expect(live.itemsOf(id)).toHaveLength(1);
    });

    test('[LIV-5] A subscriber that does not read gets a gap in place of what it missed, and no hole in seq', async () => {
      await using slow = await LiveClient.open(urlOf(engine));
      const id = await slow.subscribe('state:flood');
      slow.socket.pause();
      const value = 'x'.repeat(60_000);
      const writes = 400;
      for (let n = 0; n < writes; n += 50) {
        // On a busy machine its silence would end the socket before all is written.
        slow.socket.ping();
        await Promise.all(Array.from({ length: 50 }, (_, at) => put('flood', `k${n + at}`, value)));
      }
      slow.socket.resume();
      const dropped = (): number =>
        slow.framesOf(id).reduce((sum, frame) => sum + ('gap' in frame ? frame.gap.dropped : 0), 0);
      await waitFor('every change is sent or counted', () => slow.itemsOf(id).length + dropped() === writes, 15_000);
      expect(dropped()).toBeGreaterThan(0);
      const numbers = slow.framesOf(id).map((frame) => ('seq' in frame ? frame.seq : -1));
      expect(numbers).toEqual(numbers.map((_, at) => at));
      await put('flood', 'after', 1);
      await slow.item(id, 'the change after the gap', ({ key }) => key === 'after');
    });

    test('Closed sockets no longer count against the HTTP port', async () => {
      await using small = await startHttpEngine('', { top: 'limits: {http: {connections: 4}}' });
      for (let n = 0; n < 12; n++) {
        await using socket = await LiveClient.open(urlOf(small));
        const id = await socket.subscribe('health');
        await socket.item(id, 'the engine is reported', ({ kind }) => kind === 'engine');
      }
      await waitFor('a request is answered', async () => (await ask(small, '/healthz')).status === 200);
    });

    test('[X4] On other addresses the first frame has the token or the socket is closed; without a token none opens', async () => {
      const away = { 'x-forwarded-for': '203.0.113.7' };
      await using guarded = await startHttpEngine('', { top: `bridge_token: ${TOKEN}` });
      for (const frame of [{ op: 'sub', id: 1, topic: 'health' } as const, { op: 'auth', token: 'wrong' } as const]) {
        await using refused = await LiveClient.open(urlOf(guarded), away);
        for (let n = 0; n < 5; n++) refused.send(frame);
        await waitFor('the socket is closed', () => refused.closeCode === 4401);
        expect(refused.frames).toEqual([]);
      }
      await using admitted = await LiveClient.open(urlOf(guarded), away);
      admitted.send({ op: 'auth', token: TOKEN });
      const id = await admitted.subscribe('health');
      await admitted.item(id, 'the socket is admitted', ({ kind }) => kind === 'engine');
      await expectNoSocket(away);
    });

    test('[X3] A page of another origin cannot open a socket', async () => {
      await expectNoSocket({ origin: 'http://evil.example' });
    });
  });

  async function expectNoSocket(headers: Record<string, string>): Promise<void> {
    const client = new LiveClient(urlOf(engine), headers);
    const opened = vi.fn();
    client.socket.once('open', opened);
    await waitFor('the handshake is refused', () => client.closeCode !== undefined);
    expect(opened).not.toHaveBeenCalled();
  }
}

function urlOf({ httpPort }: Pick<ConsoleEngine, 'httpPort'>): string {
  return `ws://127.0.0.1:${httpPort}/_console/v1/live`;
}
