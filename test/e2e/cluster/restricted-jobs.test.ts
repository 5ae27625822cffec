// Jobs that connections of restricted ports enqueue in a shared Redis, and the rules of their port on other engines.

import { describe, expect, test } from 'vitest';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { waitForEngines, waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

const queueEntry = (keys: string): string => `  - name: svc-queue
    config:
      queue_configs: {mail: {max_retries: 0}}
      adapter: {name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${keys}', lease_ms: 2000}}
`;

const portEntry = (port: number, name: string | undefined): string => `  - name: svc-worker-manager
    config: {port: ${port}, ${name === undefined ? '' : `name: ${name}, `}rbac: {expose_functions: ['match("mail::*")'], shared_queues: [mail]}}
`;

const enqueue = (page: RawWorker, n: number, delayMs = 0) =>
  page.call('mail::send', { n }, { action: { type: 'enqueue', queue: 'mail', delay_ms: delayMs } });

interface Stats {
  readonly dlq_depth: number;
  readonly states: Readonly<Record<string, number>>;
}

const statsAt = async (worker: SvcWorker): Promise<Stats> =>
  await worker.trigger({ function_id: 'engine::queue::topic_stats', payload: { topic: 'mail' } });

const depthOfDeadLetters = async (worker: SvcWorker): Promise<number> => (await statsAt(worker)).dlq_depth;

describe.skipIf(NO_NATS_SERVER)('a job of a restricted connection', () => {
  test('[CL34] runs on another engine with the rights of the port of that name there', {
    timeout: 60_000,
  }, async () => {
    const keys = newKeyPrefix();
    const entries = async () => ({ workers: queueEntry(keys) + portEntry(await freePort(), 'pages') });
    await using pair = await startClusterPair(await entries(), await entries());
    const seen: unknown[] = [];
    const far = connect(pair.b.url);
    far.registerFunction('mail::send', (data: unknown) => void seen.push(data));
    await waitForFunction(connect(pair.a.url), 'mail::send');
    await using page = await RawWorker.connect(String(pair.a.urls[1]), { subprotocols: ['svc.json.v1'] });
    expect(await enqueue(page, 1, 1_500)).toMatchObject({ result: { messageReceiptId: expect.any(String) } });
    await pair.a.drain();
    await waitFor('the job has run', () => seen.length === 1, 20_000);
    expect(await depthOfDeadLetters(far)).toBe(0);
    await removeKeys(keys);
  });

  test('[CL34] waits for an engine that has its port', { timeout: 60_000 }, async () => {
    const keys = newKeyPrefix();
    const withPort = { workers: queueEntry(keys) + portEntry(await freePort(), 'pages') };
    await using pair = await startClusterPair(withPort, { workers: queueEntry(keys) });
    const seen: unknown[] = [];
    const far = connect(pair.b.url);
    far.registerFunction('mail::send', (data: unknown) => void seen.push(data));
    const near = connect(pair.a.url);
    await waitForFunction(near, 'mail::send');
    await waitForEngines(near, 1);
    await using page = await RawWorker.connect(String(pair.a.urls[1]), { subprotocols: ['svc.json.v1'] });
    await enqueue(page, 1, 1_500);
    await pair.a.drain();
    await waitFor(
      'it waits at the engine without the port',
      async () => (await statsAt(far)).states.waiting_for_worker === 1,
      20_000,
    );
    await using later = await startTestEngine({ yaml: pair.yaml });
    await waitFor('the job has run', () => seen.length === 1, 30_000);
    expect(await depthOfDeadLetters(connect(later.url))).toBe(0);
    await removeKeys(keys);
  });
});
