// Trigger types that workers provide, seen from the other engine of a pair.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { type ClusterPair, startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const TYPE = { type: 'registertriggertype', id: 'tide', description: 'Fires at high tide' };
const TRIGGER = { type: 'registertrigger', id: 't1', trigger_type: 'tide', function_id: 'boats::sail', config: {} };

const PORT = `  - name: svc-worker-manager
    config: {port: 0, rbac: {auth_function_id: 'auth', allow_trigger_types: [tide]}}
`;

/** A worker on B binds a trigger of the type that a worker on A provides. */
async function startBoats(pair: ClusterPair) {
  const provider = await RawWorker.connect(pair.a.url);
  provider.send(TYPE);
  const sailor = await RawWorker.connect(pair.b.url);
  const sailed: unknown[] = [];
  await sailor.serve('boats::sail', (data) => void sailed.push(data));
  sailor.send(TRIGGER);
  const bound = await provider.next('registertrigger');
  return { provider, sailor, sailed, bound };
}

async function rowOf(worker: RawWorker, list: string, field: string, id: string): Promise<unknown> {
  const { result } = await worker.call(list, {});
  return Object(result)[field].find((row: { id: string }) => row.id === id);
}

describe.skipIf(NO_NATS_SERVER)('a trigger type of a worker on another engine', () => {
  test('[CL33] gets the triggers of all engines, and fires them', async () => {
    await using pair = await startClusterPair();
    const { provider, sailor, sailed, bound } = await startBoats(pair);
    expect(bound).toMatchObject({ trigger_type: 'tide', function_id: 'boats::sail' });
    await provider.call('boats::sail', { level: 3 });
    expect(sailed).toEqual([{ level: 3 }]);
    sailor.close();
    expect(await provider.next('unregistertrigger')).toMatchObject({ id: bound.id });
    provider.close();
  });

  test('[CL33] is listed with its engine, and its triggers are active', async () => {
    await using pair = await startClusterPair();
    const { provider, sailor } = await startBoats(pair);
    await waitFor('the type is listed', async () => {
      return (await rowOf(sailor, 'engine::triggers::list', 'triggers', 'tide')) !== undefined;
    });
    const type = await rowOf(sailor, 'engine::triggers::list', 'triggers', 'tide');
    const { result } = await sailor.call('engine::cluster::status', {});
    const other = Object(result).engines.find(({ status }: { status: string }) => status !== 'here');
    expect(type).toMatchObject({ description: 'Fires at high tide', engine: other.id });
    const row = () => rowOf(sailor, 'engine::registered-triggers::list', 'registered_triggers', 't1');
    expect(await row()).toMatchObject({ status: 'Active' });
    provider.close();
    await waitFor('nothing provides the type', async () => Object(await row()).status === 'Inactive');
    sailor.close();
  });

  test('[CL33] refuses a trigger, which its worker and the lists of its engine report, until it accepts it', async () => {
    await using pair = await startClusterPair();
    const { provider, sailor, bound } = await startBoats(pair);
    const verdict = {
      type: 'triggerregistrationresult',
      id: bound.id,
      trigger_type: 'tide',
      function_id: 'boats::sail',
    };
    const error = { code: 'no_harbour', message: 'the boat has no harbour' };
    provider.send({ ...verdict, error });
    expect(await sailor.next('triggerregistrationresult')).toMatchObject({ id: 't1', error });
    const row = () => rowOf(sailor, 'engine::registered-triggers::list', 'registered_triggers', 't1');
    expect(await row()).toMatchObject({ status: 'Error', error: expect.stringContaining('no harbour') });
    provider.send(verdict);
    await waitFor('it is active', async () => Object(await row()).status === 'Active');
    provider.close();
    sailor.close();
  });

  test('[CL18] a trigger is found by the id that its worker gave it, through every engine', async () => {
    await using pair = await startClusterPair();
    const { provider, sailor, sailed } = await startBoats(pair);
    const { result } = await provider.call('engine::registered-triggers::info', { id: 't1' });
    expect(result).toMatchObject({ trigger_type: 'tide', function_id: 'boats::sail' });
    await provider.call('engine::triggers::fire', { id: 't1', payload: { level: 1 } });
    await waitFor('it has run', () => sailed.length === 1);
    provider.close();
    sailor.close();
  });

  test('[CL33] belongs to the worker that registered it last, on whichever engine', async () => {
    await using pair = await startClusterPair();
    const { provider, sailor, bound } = await startBoats(pair);
    const later = await RawWorker.connect(pair.b.url);
    later.send(TYPE);
    expect(await later.next('registertrigger')).toMatchObject({ id: 't1' });
    expect(await provider.next('unregistertrigger')).toMatchObject({ id: bound.id });
    // Triggers that come afterwards go to the new one only.
    const second = { ...TRIGGER, id: 't2' };
    const owner = await RawWorker.connect(pair.a.url);
    owner.send(second);
    const given = await later.next('registertrigger');
    expect(given).toMatchObject({ trigger_type: 'tide', function_id: 'boats::sail' });
    await provider.settled();
    expect(provider.frames.filter(({ type }) => type === 'registertrigger')).toEqual([]);
    for (const worker of [provider, sailor, later, owner]) worker.close();
  });

  test('[CL33] [X9] of a restricted connection gets the triggers of all engines, and none that no connection owns', async () => {
    await using pair = await startClusterPair({ workers: PORT });
    const own = await RawWorker.connect(pair.b.url);
    await own.serve('auth', () => ({ allow_trigger_type_registration: true }));
    const page = await RawWorker.connect(String(pair.b.urls[1]), { subprotocols: ['svc.json.v1'] });
    page.send(TYPE);
    const sailor = await RawWorker.connect(pair.a.url);
    await waitFor('the type is listed', async () => {
      return (await rowOf(sailor, 'engine::triggers::list', 'triggers', 'tide')) !== undefined;
    });
    const durable = { trigger_type: 'tide', function_id: 'boats::sail' };
    const { result } = await sailor.call('engine::register_trigger', durable);
    sailor.send(TRIGGER);
    expect(await page.next('registertrigger')).toMatchObject({ function_id: 'boats::sail' });
    await page.settled();
    expect(page.frames.filter(({ type }) => type === 'registertrigger')).toEqual([]);
    const row = await rowOf(sailor, 'engine::registered-triggers::list', 'registered_triggers', Object(result).id);
    expect(row).toMatchObject({ status: 'Inactive' });
    for (const worker of [own, page, sailor]) worker.close();
  });

  test('[CL33] [X9] is taken from a restricted connection', async () => {
    await using pair = await startClusterPair({ workers: PORT });
    const own = await RawWorker.connect(pair.b.url);
    await own.serve('auth', () => ({ allow_trigger_type_registration: true }));
    const page = await RawWorker.connect(String(pair.b.urls[1]), { subprotocols: ['svc.json.v1'] });
    page.send(TYPE);
    const sailor = await RawWorker.connect(pair.b.url);
    sailor.send(TRIGGER);
    expect(await page.next('registertrigger')).toMatchObject({ id: 't1' });
    const provider = await RawWorker.connect(pair.a.url);
    provider.send(TYPE);
    expect(await page.next('unregistertrigger')).toMatchObject({ id: 't1' });
    expect(await provider.next('registertrigger')).toMatchObject({ function_id: 'boats::sail' });
    for (const worker of [own, page, sailor, provider]) worker.close();
  });
});
