// State triggers through a running engine: real store, real thread, real sockets, both forms of the wire.

import { describe, expect, test } from 'vitest';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { waitFor } from '../../support/wait-for.ts';
import { STATE_IN_MEMORY, sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

test('[S5] the numbers of the changes of an entry go up after the engine was started again', async () => {
  using folder = new TemporaryFolder();
  const yaml = `workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: file_based, file_path: ${folder.path}}}}}
`;
  const seqs: unknown[] = [];
  for (const value of [1, 2]) {
    await using engine = await startTestEngine({ yaml });
    const svc = connect(engine.url);
    await bind(svc, {}, ({ seq }) => seqs.push(seq));
    await svc.trigger({ function_id: 'state::set', payload: { scope: 's', key: 'k', value } });
    await waitFor('the event', () => seqs.length === value);
  }
  expect(seqs).toEqual([1, 2]);
});

describe.each(['binary', 'json'] as const)('a worker of the %s form', (wire) => {
  test('[S5] gets writes, updates and deletions in their order', async () => {
    await using engine = await startTestEngine({ yaml: STATE_IN_MEMORY });
    const svc = connect(engine.url, { wire });
    const events: unknown[] = [];
    await bind(svc, { scope: 'orders' }, (event) => events.push(event));
    const entry = { scope: 'orders', key: 'größe' };
    await svc.trigger({ function_id: 'state::set', payload: { ...entry, value: { n: 1 } } });
    await svc.trigger({ function_id: 'state::set', payload: { scope: 'users', key: 'größe', value: 1 } });
    const ops = [{ type: 'increment', path: 'n', by: 1 }];
    await svc.trigger({ function_id: 'state::update', payload: { ...entry, ops } });
    await svc.trigger({ function_id: 'state::delete', payload: entry });
    await waitFor('three events', () => events.length === 3);
    const common = { type: 'state', ...entry, timestamp: expect.any(Number) };
    expect(events).toEqual([
      { ...common, event_type: 'state:updated', old_value: null, new_value: { n: 1 }, seq: 1 },
      { ...common, event_type: 'state:updated', old_value: { n: 1 }, new_value: { n: 2 }, seq: 3 },
      { ...common, event_type: 'state:deleted', old_value: { n: 2 }, new_value: null, seq: 4 },
    ]);
  });

  test('[S2] gets no event for an update whose operations all fail, or for a deletion of a missing entry', async () => {
    await using engine = await startTestEngine({ yaml: STATE_IN_MEMORY });
    const svc = connect(engine.url, { wire });
    const events: unknown[] = [];
    await bind(svc, {}, (event) => events.push(event));
    const entry = { scope: 's', key: 'k' };
    const ops = [{ type: 'set', path: '__proto__', value: 1 }];
    await svc.trigger({ function_id: 'state::update', payload: { ...entry, ops } });
    await svc.trigger({ function_id: 'state::update', payload: { ...entry, ops: [] } });
    await svc.trigger({ function_id: 'state::delete', payload: entry });
    await svc.trigger({ function_id: 'state::set', payload: { ...entry, value: 'last' } });
    await waitFor('an event', () => events.length > 0);
    expect(events).toMatchObject([{ new_value: 'last' }]);
  });

  test('[T8] gets only the events that its condition accepts', async () => {
    await using engine = await startTestEngine({ yaml: STATE_IN_MEMORY });
    const svc = connect(engine.url, { wire });
    const events: unknown[] = [];
    svc.registerFunction('is_large', ({ new_value }: { new_value: number }) => new_value > 10);
    await bind(svc, { scope: 's', condition_function_id: 'is_large' }, (event) => events.push(event));
    for (const value of [5, 50, 6, 60]) {
      await svc.trigger({ function_id: 'state::set', payload: { scope: 's', key: 'k', value } });
    }
    await waitFor('both large ones', () => events.length === 2);
    expect(events).toMatchObject([{ new_value: 50 }, { new_value: 60 }]);
    await expectCount(engine, 2, 'triggers.skipped');
  });

  test('[I8] [fault 45] whose trigger writes its own scope is stopped at depth 64', async () => {
    const line = faultLine('45', `trigger loop over ${wire}`, 'links=64');
    await using engine = await startTestEngine({ yaml: STATE_IN_MEMORY });
    const svc = connect(engine.url, { wire });
    const ends: unknown[] = [];
    let calls = 0;
    await bind(svc, { scope: 'loop' }, async ({ new_value }) => {
      calls++;
      const write = svc.trigger({
        function_id: 'state::set',
        payload: { scope: 'loop', key: 'n', value: Number(new_value) + 1 },
      });
      await write.catch((error: { code?: string }) => ends.push(error.code));
    });
    await svc.trigger({ function_id: 'state::set', payload: { scope: 'loop', key: 'n', value: 0 } });
    await waitFor('the chain ends', () => ends.length > 0);
    expect(ends).toEqual(['DEPTH_EXCEEDED']);
    // Each round is two links: the write, and the call of the function.
    line.figure = `links=${calls * 2}`;
    expect(calls).toBe(32);
    expect(await svc.trigger({ function_id: 'state::get', payload: { scope: 'loop', key: 'n' } })).toBe(31);
  });
});

interface StateEvent {
  readonly new_value: unknown;
  readonly seq: number;
}

async function bind(svc: SvcWorker, config: object, handler: (event: StateEvent) => unknown): Promise<void> {
  const changed = svc.registerFunction('changed', (event: StateEvent) => handler(event));
  await svc.registerTrigger({ type: 'state', function_id: changed, config }).ready();
}
