// The published client of `iii` through broken connections: it reconnects by itself, and the engine must let it find
// everything as it was.

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';

const MIB = 1024 * 1024;

// The client logs to the console when it has lost its connection.
const logged = vi.fn<(text: string) => void>();

beforeEach(() => {
  logged.mockReset();
  vi.spyOn(console, 'debug').mockImplementation(logged);
  vi.spyOn(console, 'error').mockReturnValue(undefined);
});

describe('a connection that breaks', () => {
  test('[W3] the client returns with its functions, its triggers and the calls it made in the meantime', async () => {
    await using engine = await startTestEngine();
    await using proxy = await CutProxy.start(engine.port);
    await using worker = new IiiClient(proxy.url, { workerName: 'flaky' });
    await using other = new IiiClient(engine.url);
    worker.sdk.registerFunction('math::add', async ({ x, y }) => x + y);
    worker.sdk.registerTrigger({ type: 'webhook', function_id: 'math::add', config: {} });
    other.sdk.registerFunction('other::one', async () => 1);
    await Promise.all([worker.ready(), other.ready()]);
    const before = await triggersOf(other, 'math::add');
    for (let round = 0; round < 3; round++) {
      logged.mockClear();
      proxy.cut();
      await waitFor('the client has noticed', () => logged.mock.calls.some(([text]) => text.includes('Reconnecting')));
      expect(await worker.call('other::one', {})).toBe(1);
      expect(await other.call('math::add', { x: round, y: 1 })).toBe(round + 1);
      expect(await triggersOf(other, 'math::add')).toEqual(before);
    }
    expect(before).toHaveLength(1);
  });

  test('[W3] [wire 10.30] a successor evicts a connection that seems alive, and keeps its ids', async () => {
    await using engine = await startTestEngine();
    await using proxy = await CutProxy.start(engine.port);
    await using worker = new IiiClient(proxy.url, { workerName: 'flaky' });
    await using caller = new IiiClient(engine.url);
    worker.sdk.registerFunction('math::add', async ({ x, y }) => x + y);
    worker.sdk.registerTrigger({ type: 'webhook', function_id: 'math::add', config: {} });
    await worker.ready();
    const [first] = await sessionsOf(caller, 'flaky');
    for (let round = 0; round < 3; round++) {
      const [before] = await sessionsOf(caller, 'flaky');
      proxy.cutWorkers();
      await waitFor('only the successor is left', async () => {
        const now = await sessionsOf(caller, 'flaky');
        return now.length === 1 && now[0] !== before;
      });
      expect(await caller.call('math::add', { x: 2, y: 3 })).toBe(5);
      expect(await triggersOf(caller, 'math::add')).toHaveLength(1);
    }
    expect(first).toBeDefined();
    expect(engine.counters.get('reattach.refused')).toBe(0);
  });

  test('[I4] calls of the evicted connection are answered with invocation_stopped', async () => {
    await using engine = await startTestEngine();
    await using proxy = await CutProxy.start(engine.port);
    await using worker = new IiiClient(proxy.url);
    await using caller = new IiiClient(engine.url);
    const started = vi.fn();
    worker.sdk.registerFunction('slow::one', () => new Promise(() => started()));
    await worker.ready();
    const call = caller.call('slow::one', {});
    await waitFor('the handler runs', () => started.mock.calls.length === 1);
    proxy.cutWorkers();
    await expect(call).rejects.toMatchObject({
      code: 'invocation_stopped',
      message: expect.stringContaining('whether it took effect is unknown'),
    });
    expect(started).toHaveBeenCalledTimes(1);
  });

  test('[W3] two live workers of one name and the same ids do not disturb each other when one flaps', async () => {
    await using engine = await startTestEngine();
    await using proxy = await CutProxy.start(engine.port);
    await using flapping = new IiiClient(proxy.url, { workerName: 'twin' });
    await using steady = new IiiClient(engine.url, { workerName: 'twin' });
    await using caller = new IiiClient(engine.url);
    for (const twin of [flapping, steady]) {
      twin.sdk.registerFunction('twin::hello', async () => 'hello');
      await twin.ready();
    }
    const firstIds = await sessionsOf(caller, 'twin');
    for (let round = 0; round < 5; round++) {
      proxy.cut();
      for (let call = 0; call < 5; call++) {
        // The flapping twin may be cut off while it has the call; the id itself is never missing.
        const answer = await caller.call('twin::hello', {}).catch((error: { code: string }) => error.code);
        expect(['hello', 'invocation_stopped']).toContain(answer);
      }
      await flapping.ready().catch(() => undefined);
    }
    const survivors = await sessionsOf(caller, 'twin');
    expect(survivors.filter((id) => firstIds.includes(id))).toHaveLength(1);
    expect(engine.counters.get('connections.closed', 'silent')).toBe(0);
  });
});

describe('reattaching', () => {
  test('[wire 1.9] with a wrong token, an unknown id or the own id changes nothing', async () => {
    await using engine = await startTestEngine();
    await using victim = await RawWorker.connect(engine.url);
    await using thief = await RawWorker.connect(engine.url);
    await victim.serve('vault::open', () => 'mine');
    for (const claim of [
      { previous_worker_id: victim.workerId, reattach_token: 'guess' },
      { previous_worker_id: victim.workerId, reattach_token: thief.reattachToken },
      { previous_worker_id: victim.workerId },
      { previous_worker_id: '00000000-0000-4000-8000-000000000000', reattach_token: thief.reattachToken },
      { previous_worker_id: thief.workerId, reattach_token: thief.reattachToken },
    ]) {
      thief.send({ type: 'reattach', ...claim });
    }
    await thief.settled();
    expect((await thief.call('vault::open')).result).toBe('mine');
    await expectCount(engine, 5, 'reattach.refused');
    expect(engine.log.join('\n')).not.toContain(thief.reattachToken);
  });

  test('[wire 1.9] with the right token ends the old connection, before anything that follows is applied', async () => {
    await using engine = await startTestEngine();
    await using old = await RawWorker.connect(engine.url);
    await using successor = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await old.register('math::add');
    successor.send({ type: 'reattach', previous_worker_id: old.workerId, reattach_token: old.reattachToken });
    await successor.serve('math::add', () => 'successor');
    expect(await old.closed).toMatchObject({ code: 4400 });
    expect((await caller.call('math::add')).result).toBe('successor');
  });
});

describe('a message that is too large', () => {
  test('[wire 10.35] of 20 MiB closes the connection with 1009; the client reconnects and its call times out', async () => {
    // Other routers write their log lines themselves.
    await using engine = await startTestEngine({ threads: 1 });
    await using worker = new IiiClient(engine.url);
    worker.sdk.registerFunction('big::echo', async () => 'received');
    await worker.ready();
    const big = { text: 'x'.repeat(20 * MIB) };
    await expect(worker.call('big::echo', big, { timeoutMs: 1_500 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    // A call that the client sends before it has noticed is lost with the connection.
    await waitFor('the client has noticed', () => logged.mock.calls.some(([text]) => text.includes('Reconnecting')));
    expect(await worker.call('big::echo', {})).toBe('received');
    await expectCount(engine, 1, 'connections.closed', 'message_too_big');
    expect(engine.log.join('\n')).toContain('over limits.trusted.frame_bytes');
  });

  test('[wire 1.5] just over the limit gives close code 1009, and is counted also far beyond it', async () => {
    await using engine = await startTestEngine();
    await using near = await RawWorker.connect(engine.url);
    near.sendText(`"${'x'.repeat(16 * MIB)}"`);
    expect(await near.closed).toEqual({ code: 1009, reason: 'the limit of a message is 16777216 bytes' });
    await using far = await RawWorker.connect(engine.url);
    far.sendText(`"${'x'.repeat(40 * MIB)}"`);
    await far.closed;
    await waitFor('both are counted', () => engine.counters.get('connections.closed', 'message_too_big') === 2);
  });

  test('[wire 1.5] of exactly the limit is read', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    const frame = { type: 'invokefunction', invocation_id: 'c', function_id: 'no::one', data: '' };
    const rest = 16 * MIB - JSON.stringify(frame).length;
    worker.send({ ...frame, data: 'x'.repeat(rest) });
    expect(await worker.answerTo('c')).toMatchObject({ error: { code: 'function_not_found' } });
  });
});

async function sessionsOf(client: IiiClient, name: string): Promise<string[]> {
  const { workers } = await client.sdk.trigger({ function_id: 'engine::workers::list', payload: { search: name } });
  return workers.map((row: { id: string }) => row.id).sort();
}

async function triggersOf(client: IiiClient, functionId: string): Promise<string[]> {
  const { registered_triggers: rows } = await client.sdk.trigger({
    function_id: 'engine::registered-triggers::list',
    payload: { function_id: functionId },
  });
  return rows.map((row: { id: string }) => row.id);
}
