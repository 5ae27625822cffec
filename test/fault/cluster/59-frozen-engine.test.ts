// Fault 59: an engine is stopped (SIGSTOP) while its worker runs jobs, and continues long after others have taken them
// over (M2 of the guarantees).

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import { sdkWorkers } from '../../e2e/sdk-workers.ts';
import {
  startClusterEngine,
  waitForEngines,
  waitForFunction,
  waitForNoFunction,
} from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds } from '../../support/load/fault-tools.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const connect = sdkWorkers();
const ROUNDS = rounds(1);
const JOBS = 12;
const ELSEWHERE_MS_MAX = 35_000;
/** Further time that it is stopped in the long form, by round. */
const FROZEN_MS = ROUNDS === 1 ? [0] : [20_000, 40_000, 90_000];

const queueEntry = (keys: string): string => `  - name: svc-queue
    config:
      queue_configs: {mail: {max_retries: 0, concurrency: ${JOBS}}, probes: {}}
      adapter: {name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${keys}', lease_ms: 2000}}
`;

interface Stats {
  readonly depth: number;
  readonly dlq_depth: number;
}

const statsAt = async (worker: SvcWorker): Promise<Stats> =>
  await worker.trigger({ function_id: 'engine::queue::topic_stats', payload: { topic: 'mail' } });

const enqueue = (worker: SvcWorker, queue: string, n: number) =>
  worker.trigger({ function_id: `${queue}::run`, payload: { n }, action: { type: 'enqueue', queue } });

/** A promise and what resolves it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

describe.skipIf(NO_NATS_SERVER)('an engine that is stopped and continues', () => {
  test('[fault 59] [CL6] [CL25] [Q8] completes no job that others have run meanwhile, and is a member again', {
    timeout: 60_000 + ROUNDS * 200_000,
  }, async () => {
    const line = faultLine('59', 'frozen engine', `lost=0,dead=0,completed-late=0,elsewhere<=${ELSEWHERE_MS_MAX}ms`);
    const keys = newKeyPrefix();
    await using nats = await NatsServer.start();
    const options = { nats: nats.url, prefix: `t${randomUUID().slice(0, 8)}`, workers: queueEntry(keys) };
    await using awake = await startClusterEngine(options);
    await using frozen = await startClusterEngine(options);
    const producer = connect(awake.url);
    const onFrozen = connect(frozen.url);
    let elsewhereMs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const [begun, again] = [new Set<number>(), new Set<number>()];
      const [late, rightful] = [gate(), gate()];
      const probes = new Set<number>();
      const onBoth = [
        onFrozen.registerFunction('mail::run', async ({ n }: { n: number }) => {
          begun.add(n);
          await late.opened;
        }),
        onFrozen.registerFunction('probes::run', ({ n }: { n: number }) => void probes.add(n)),
      ];
      await waitForFunction(producer, 'mail::run');
      await waitForEngines(producer, 1);
      for (let n = 0; n < JOBS; n++) await enqueue(onFrozen, 'mail', n);
      await waitFor('all run on the worker of the engine that will be stopped', () => begun.size === JOBS, 20_000);
      frozen.kill('SIGSTOP');
      const stoppedMs = performance.now();
      onBoth.push(
        producer.registerFunction('mail::run', async ({ n }: { n: number }) => {
          again.add(n);
          await rightful.opened;
        }),
      );
      await waitFor('all run on the other engine', () => again.size === JOBS, ELSEWHERE_MS_MAX);
      elsewhereMs = Math.max(elsewhereMs, performance.now() - stoppedMs);
      await new Promise((resolve) => setTimeout(resolve, FROZEN_MS[round % FROZEN_MS.length]));
      frozen.kill('SIGCONT');
      late.open();
      await waitForEngines(producer, 1);
      await waitForEngines(onFrozen, 1);
      for (let probe = 0; probe < 5; probe++) {
        await enqueue(onFrozen, 'probes', probe);
        await waitFor('it runs jobs again', () => probes.has(probe), 20_000);
      }
      await waitFor('the jobs run where they are', async () => (await statsAt(producer)).depth === JOBS);
      rightful.open();
      await waitFor('they are done', async () => (await statsAt(producer)).depth === 0, 20_000);
      expect(await statsAt(producer)).toMatchObject({ depth: 0, dlq_depth: 0 });
      for (const registered of onBoth) registered.unregister();
      await waitForNoFunction(producer, 'mail::run');
    }
    line.figure = `lost=0,dead=0,completed-late=0,elsewhere=${Math.round(elsewhereMs)}ms`;
    await removeKeys(keys);
  });
});
