// Which of several registrations counts, where the order of registrations decides and they are on two engines.

import { describe, expect, test } from 'vitest';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import { codeOf, waitForEngines, waitForFunction, waitForTriggers } from '../../support/cluster/cluster-engines.ts';
import { startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();
const who = (caller: SvcWorker): Promise<string> => caller.trigger('shop::who', {});

describe.skipIf(NO_NATS_SERVER)('several workers of one function on two engines', () => {
  test('[CL27] with newest, calls of all engines go to the one that registered last, until it leaves', async () => {
    await using pair = await startClusterPair({ more: 'balance: newest' });
    const { a, b } = pair;
    const callers = [connect(a.url), connect(b.url)];
    const answers = (): Promise<string[]> => Promise.all(callers.map(who));
    const onA = connect(a.url);
    onA.registerFunction('shop::who', () => 'first, on A');
    await waitFor('A has it', async () => (await answers().catch(() => [])).join() === 'first, on A,first, on A');
    const onB = connect(b.url);
    onB.registerFunction('shop::who', () => 'second, on B');
    await waitFor('the second has it', async () => (await answers()).join() === 'second, on B,second, on B');
    const again = connect(a.url);
    again.registerFunction('shop::who', () => 'third, on A');
    await waitFor('the third has it', async () => (await answers()).join() === 'third, on A,third, on A');
    await again.shutdown();
    await waitFor('the second has it again', async () => (await answers()).join() === 'second, on B,second, on B');
    await onB.shutdown();
    await waitFor('the first has it again', async () => (await answers()).join() === 'first, on A,first, on A');
  });

  test('[CL28] with reject_duplicates, a second one on another engine is refused, and not after the first left', async () => {
    await using pair = await startClusterPair({ more: 'balance: reject_duplicates' });
    const { a, b } = pair;
    const onA = connect(a.url);
    onA.registerFunction('shop::who', () => 'A');
    const onB = connect(b.url);
    const refused: string[] = [];
    onB.on('rejected', ({ error }) => refused.push(error.message));
    await waitForFunction(onB, 'shop::who');
    await waitForEngines(onB, 1);
    onB.registerFunction('shop::who', () => 'B');
    await waitFor('it is refused', () => refused.length === 1);
    expect(refused).toEqual([expect.stringContaining('already registered by a worker of engine')]);
    expect(await who(onB)).toBe('A');
    await onA.shutdown();
    await waitFor('it is free again', async () => {
      connect(b.url).registerFunction('shop::who', () => 'next');
      return (await who(onB).catch(() => '')) === 'next';
    });
  });

  test('[CL28] with reject_duplicates, one of two that registered at the same time remains', async () => {
    await using pair = await startClusterPair({ more: 'balance: reject_duplicates' });
    const workers = [connect(pair.a.url), connect(pair.b.url)];
    await Promise.all(workers.map((worker) => waitForEngines(worker, 1)));
    let refusals = 0;
    for (const worker of workers) worker.on('rejected', () => refusals++);
    const names = Array.from({ length: 50 }, (_, index) => `race::f${index}`);
    for (const name of names)
      for (const [index, worker] of workers.entries()) worker.registerFunction(name, () => index);
    await waitFor('one of each two is refused', () => refusals >= names.length);
    for (const name of names) {
      const [one, other] = await Promise.all(workers.map((worker) => worker.trigger<unknown, number>(name, {})));
      expect(one).toBe(other);
    }
    expect(refusals).toBe(names.length);
  });

  test('[CL28] with reject_duplicates, no call runs on the one that is refused later', async () => {
    await using pair = await startClusterPair({ more: 'balance: reject_duplicates' });
    const workers = [connect(pair.a.url), connect(pair.b.url)];
    for (const [index, worker] of workers.entries()) worker.registerFunction(`here::${index}`, () => index);
    const reached = workers.map((worker) =>
      waitFor('both are reached', async () =>
        (await Promise.all([0, 1].map((index) => codeOf(worker.trigger(`here::${index}`, {}))))).every(
          (code) => code === 'answered',
        ),
      ),
    );
    await Promise.all(reached);
    for (let round = 0; round < 50; round++) {
      const name = `once::f${round}`;
      const answers = await Promise.all(
        workers.map(async (worker, index) => {
          worker.registerFunction(name, () => index);
          return await worker.trigger<unknown, number>(name, {});
        }),
      );
      expect(new Set(answers).size).toBe(1);
    }
  });

  test('[CL28] with reject_duplicates, a new one answers ENGINE_UNREACHABLE until NATS confirms it', async () => {
    await using pair = await startClusterPair({ more: 'balance: reject_duplicates' });
    const worker = connect(pair.a.url);
    worker.registerFunction('old', () => 'old');
    expect(await worker.trigger('old', {})).toBe('old');
    await pair.nats.stop();
    worker.registerFunction('new', () => 'new');
    expect(await codeOf(worker.trigger('new', {}))).toBe('ENGINE_UNREACHABLE');
    const gone = connect(pair.a.url);
    gone.registerFunction('gone', () => 'gone');
    expect(await codeOf(gone.trigger('gone', {}))).toBe('ENGINE_UNREACHABLE');
    await gone.shutdown();
    await waitFor('it is gone', async () => (await codeOf(worker.trigger('gone', {}))) === 'function_not_found');
    expect(await worker.trigger('old', {})).toBe('old');
    await pair.nats.start();
    await waitFor('it is confirmed', async () => (await codeOf(worker.trigger('new', {}))) === 'answered', 15_000);
  });

  test('[CL27] one route of two workers is answered by the newer one, on every engine', async () => {
    const ports = [await freePort(), await freePort()];
    const [ofA = '', ofB = ''] = ports.map(
      (port) => `  - {name: svc-http, config: {port: ${port}, host: 127.0.0.1}}\n`,
    );
    await using pair = await startClusterPair({ workers: ofA }, { workers: ofB });
    const workers = [connect(pair.a.url), connect(pair.b.url)];
    await Promise.all(workers.map((worker) => waitForEngines(worker, 1)));
    const answerOf = async (port: number): Promise<unknown> =>
      await (await fetch(`http://127.0.0.1:${port}/which`)).json();
    const answers = (): Promise<unknown[]> => Promise.all(ports.map(answerOf));
    for (const [index, worker] of workers.entries()) {
      worker.registerFunction(`which::${index}`, () => ({ status_code: 200, body: index }));
      worker.registerTrigger({
        ...{ type: 'http', function_id: `which::${index}` },
        config: { api_path: 'which', http_method: 'GET' },
      });
    }
    for (const worker of workers) await waitForTriggers(worker, 2);
    await waitFor('both engines answer with the same one', async () => {
      const [one, other] = await answers();
      return one === other;
    });
    const [holder] = await answers();
    await workers[holder === 0 ? 0 : 1]?.shutdown();
    const other = holder === 0 ? 1 : 0;
    await waitFor('the other one has it', async () => (await answers()).every((answer) => answer === other));
  });
});
