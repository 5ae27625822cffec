// Triggers without an owner, which the engines of a cluster keep together.

import { describe, expect, test } from 'vitest';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import { codeOf, waitForEngines, waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();
const EVENTS = { workers: '  - name: svc-pubsub\n' };

const subscribe = (worker: SvcWorker, more: object = {}): Promise<{ id: string }> =>
  worker.trigger({
    function_id: 'engine::register_trigger',
    payload: { trigger_type: 'subscribe', function_id: 'orders::note', config: { topic: 'orders' }, ...more },
  });

async function idsAt(worker: SvcWorker): Promise<string[]> {
  const { registered_triggers: triggers } = await worker.trigger<unknown, { registered_triggers: { id: string }[] }>({
    ...{ function_id: 'engine::registered-triggers::list', payload: {} },
  });
  return triggers.map(({ id }) => id);
}

describe.skipIf(NO_NATS_SERVER)('a trigger without an owner', () => {
  test('[CL31] fires at every engine, once for each event, until it is removed at one of them', async () => {
    await using pair = await startClusterPair(EVENTS);
    const [near, far] = [connect(pair.a.url), connect(pair.b.url)];
    await waitForEngines(near, 1);
    const seen: unknown[] = [];
    far.registerFunction('orders::note', (event: unknown) => void seen.push(event));
    await waitForFunction(near, 'orders::note');
    const { id } = await subscribe(near);
    await waitFor('the other engine has it', async () => (await idsAt(far)).includes(id));
    await near.emit('orders', 1);
    const beforeMs = Date.now();
    await far.emit('orders', 2);
    await waitFor('both events have arrived', () => seen.length >= 2);
    expect(seen).toHaveLength(2);
    // The other engine fired it last, and another engine lists that.
    const info = { function_id: 'engine::registered-triggers::info', payload: { id } };
    const { last_fired_at: at } = await near.trigger<unknown, { last_fired_at?: string }>(info);
    expect(Date.parse(at ?? '')).toBeGreaterThanOrEqual(beforeMs);
    await far.trigger({ function_id: 'engine::unregister_trigger', payload: { id } });
    await waitFor('it is gone at the first', async () => !(await idsAt(near)).includes(id));
    expect(await idsAt(far)).not.toContain(id);
  });

  test('[CL31] is there after all engines were replaced', async () => {
    await using pair = await startClusterPair(EVENTS);
    const { id } = await subscribe(connect(pair.a.url));
    await Promise.all([pair.a.drain(), pair.b.drain()]);
    await using later = await startTestEngine({ yaml: pair.yaml });
    expect(await idsAt(connect(later.url))).toContain(id);
  });

  test('[CL31] is refused while NATS is away, and when it is too large, and leaves nothing', async () => {
    await using pair = await startClusterPair(EVENTS);
    const near = connect(pair.a.url);
    const large = subscribe(near, { metadata: { text: 'x'.repeat(65_450) } });
    expect(await codeOf(large)).toBe('PAYLOAD_TOO_LARGE');
    await pair.nats.stop();
    await waitFor(
      'a new one is refused',
      async () => (await codeOf(subscribe(near))) === 'STORAGE_UNAVAILABLE',
      20_000,
    );
    expect(await idsAt(near)).toEqual([]);
  });
});
