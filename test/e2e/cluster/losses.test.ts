// What is lost when an engine of a cluster, or NATS, is lost, and what is not. Engines are processes here.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  codeOf,
  startClusterEngine,
  statusOf,
  waitForEngines,
  waitForFunction,
  waitForNoFunction,
} from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import type { EngineProcess } from '../../support/engine/engine-process.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

interface Trio extends AsyncDisposable {
  readonly nats: NatsServer;
  readonly engines: readonly [EngineProcess, EngineProcess];
}

async function startTwo(): Promise<Trio> {
  const nats = await NatsServer.start();
  const prefix = `t${randomUUID().slice(0, 8)}`;
  const start = () => startClusterEngine({ nats: nats.url, prefix });
  const engines = [await start(), await start()] as const;
  return {
    nats,
    engines,
    async [Symbol.asyncDispose]() {
      await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
      await nats[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(NO_NATS_SERVER)('an engine that is killed', () => {
  test('[CL13] [CL14] its calls end at once, its functions are unreachable, and after 6 s they are gone', async () => {
    await using two = await startTwo();
    const [one, other] = two.engines;
    const caller = connect(one.url);
    const worker = connect(other.url);
    worker.registerFunction('far::hang', () => new Promise(() => {}));
    await waitForFunction(caller, 'far::hang');
    const running = codeOf(caller.trigger('far::hang', {}));
    await waitFor('the call runs', async () => (await statusOf(caller)).engines.some(({ calls }) => calls > 0));
    other.kill('SIGKILL');
    expect(await running).toBe('invocation_stopped');
    expect(await codeOf(caller.trigger('far::hang', {}))).toBe('ENGINE_UNREACHABLE');
    await waitForNoFunction(caller, 'far::hang');
    expect(await codeOf(caller.trigger('far::hang', {}))).toBe('function_not_found');
    expect((await statusOf(caller)).engines).toHaveLength(1);
  });

  test('[CL30] while it is silent, a worker that no other engine has is not said to be missing', async () => {
    await using two = await startTwo();
    const [one, other] = two.engines;
    const caller = connect(one.url);
    await waitForEngines(caller, 1);
    const ask = (id: string) => codeOf(caller.trigger(id, { worker_id: 'w-unknown' }));
    expect(await ask('engine::workers::revoke')).toBe('NOT_FOUND');
    expect(await ask('engine::workers::info')).toBe('NOT_FOUND');
    other.kill('SIGSTOP');
    const codes = await Promise.all(['engine::workers::revoke', 'engine::workers::info'].map(ask));
    other.kill('SIGCONT');
    expect(codes).toEqual(['ENGINE_UNREACHABLE', 'ENGINE_UNREACHABLE']);
  });

  test('[CL3] one that stops says goodbye: its functions are gone without waiting for its silence', async () => {
    await using two = await startTwo();
    const [one, other] = two.engines;
    const caller = connect(one.url);
    connect(other.url).registerFunction('far::one', () => 1);
    await waitForFunction(caller, 'far::one');
    other.kill('SIGTERM');
    await other.end(10_000);
    expect((await statusOf(caller)).engines).toHaveLength(1);
  });

  test('[CL6] one that was frozen until others gave it up takes a new identity', { timeout: 120_000 }, async () => {
    await using two = await startTwo();
    const [one, other] = two.engines;
    const caller = connect(one.url);
    connect(other.url).registerFunction('far::one', () => 1);
    await waitForFunction(caller, 'far::one');
    const idOf = async () => (await statusOf(caller)).engines.find(({ status }) => status !== 'here')?.id;
    const before = await idOf();
    other.kill('SIGSTOP');
    await waitForNoFunction(caller, 'far::one');
    other.kill('SIGCONT');
    await waitForFunction(caller, 'far::one');
    await waitForEngines(caller, 1);
    expect(await caller.trigger('far::one', {})).toBe(1);
    expect(await idOf()).not.toBe(before);
  });
});

describe.skipIf(NO_NATS_SERVER)('a worker with the addresses of both engines', () => {
  test('[CL23] [W4] connects to the other engine when its own is killed, and its functions are there again', async () => {
    await using two = await startTwo();
    const [one, other] = two.engines;
    const caller = connect(one.url);
    const worker = connect(`${other.url},${one.url}`);
    worker.registerFunction('far::one', () => 1);
    await waitForFunction(caller, 'far::one');
    await waitForEngines(caller, 1);
    other.kill('SIGKILL');
    await waitFor(
      'it can be called',
      async () => (await codeOf(caller.trigger('far::one', {}))) === 'answered',
      10_000,
    );
    const { engines } = await statusOf(caller);
    expect(engines.find(({ status }) => status === 'here')?.functions).toBe(1);
  });
});

describe.skipIf(NO_NATS_SERVER)('NATS that is lost', () => {
  test('[CL15] local calls are answered, others are unreachable, and all is well when it is back', {
    timeout: 120_000,
  }, async () => {
    await using two = await startTwo();
    const [one, other] = two.engines;
    const caller = connect(one.url);
    caller.registerFunction('near::one', () => 'near');
    connect(other.url).registerFunction('far::one', () => 'far');
    await waitForFunction(caller, 'far::one');
    expect(await caller.trigger('far::one', {})).toBe('far');
    await two.nats.stop();
    await waitFor('it is noticed', async () => (await codeOf(caller.trigger('far::one', {}))) === 'ENGINE_UNREACHABLE');
    expect(await caller.trigger('near::one', {})).toBe('near');
    const health = await caller.trigger<unknown, { status: string }>({
      ...{ function_id: 'engine::health::check', payload: {} },
    });
    expect(health.status).toBe('degraded');
    await two.nats.start();
    await waitFor(
      'it can be called',
      async () => (await codeOf(caller.trigger('far::one', {}))) === 'answered',
      30_000,
    );
    await waitFor('nothing is wrong', async () => (await statusOf(caller)).trouble === undefined, 10_000);
  });

  test('[CL14] a function whose engine is out of reach for longer than 6 s is still not missing', {
    timeout: 120_000,
  }, async () => {
    await using two = await startTwo();
    const [one, other] = two.engines;
    const caller = connect(one.url);
    connect(other.url).registerFunction('far::one', () => 'far');
    await waitForFunction(caller, 'far::one');
    await two.nats.stop();
    await waitFor('it is noticed', async () => (await codeOf(caller.trigger('far::one', {}))) === 'ENGINE_UNREACHABLE');
    const endMs = performance.now() + 9_000;
    await waitFor(
      '9 s have passed',
      async () => {
        expect(await codeOf(caller.trigger('far::one', {}))).toBe('ENGINE_UNREACHABLE');
        return performance.now() > endMs;
      },
      12_000,
    );
  });
});
