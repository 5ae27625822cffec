// What a worker and those that call it rely on, on whichever routers of the process they are.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

/** So many that every router has some of them. */
const WORKERS = 10;
const YAML = 'drain_timeout_ms: 100\nworkers:\n  - name: svc-worker-manager\n    config: {port: 0}\n';

const connectSdk = sdkWorkers();

function connectAll(url: string): Promise<RawWorker[]> {
  return Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(url)));
}

function closeAll(...workers: readonly RawWorker[]): void {
  for (const one of workers) one.close();
}

/** Trigger types, each of a provider of its own, with a worker that registers triggers. */
async function* typesOf(url: string) {
  const [providers, binders] = [await connectAll(url), await connectAll(url)];
  for (const [at, provider] of providers.entries()) {
    const [type, binder] = [`type::${at}`, binders[at]];
    if (binder === undefined) throw new Error('no binder');
    provider.send({ type: 'registertriggertype', id: type, description: 'Inbound' });
    await provider.settled();
    yield { at, type, provider, binder };
  }
}

/** The bindings of a function, as any connection sees them. */
async function bindingsOf(worker: RawWorker, type: string): Promise<{ status: string; error?: string }[]> {
  const { result } = await worker.call('engine::registered-triggers::list', { trigger_type: type });
  return (result as { registered_triggers: { status: string; error?: string }[] }).registered_triggers;
}

describe('a worker that reconnects to another router', () => {
  test('[RO4] [wire 1.9] is reached at once, by its own calls and by those of others', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    await using caller = await RawWorker.connect(engine.url);
    const [olds, successors] = [await connectAll(engine.url), await connectAll(engine.url)];
    for (const [at, old] of olds.entries()) {
      const id = `f::${at}`;
      const successor = successors[at];
      if (successor === undefined) throw new Error('no successor');
      await old.register(id);
      successor.send({ type: 'reattach', previous_worker_id: old.workerId, reattach_token: old.reattachToken });
      const served = successor.serve(id, () => at);
      expect(await successor.call(id)).toMatchObject({ result: at });
      await served;
      expect(await caller.call(id)).toMatchObject({ result: at });
      expect(await old.closed).toMatchObject({ code: 4400 });
    }
    closeAll(...successors);
  });

  test('[RO4] [W4] keeps the triggers of its type', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    await using proxy = await CutProxy.start(engine.port);
    const said: string[] = [];
    const functions = Array.from({ length: WORKERS }, (_, at) => {
      const svc = connectSdk(proxy.url);
      svc.registerTriggerType(
        { id: `tick::${at}`, description: 'Tick' },
        {
          registerTrigger: () => void said.push('bound'),
          unregisterTrigger: () => void said.push('gone'),
        },
      );
      const one = svc.registerFunction(`own::${at}`, () => 1);
      svc.registerTrigger({ type: String(`tick::${at}`), function_id: one, config: {} });
      return { svc, one };
    });
    await Promise.all(functions.map(({ one }) => one.ready()));
    const allReturned = Promise.all(
      functions.map(({ svc }) => new Promise((resolve) => svc.on('reconnected', resolve))),
    );
    proxy.cut();
    await allReturned;
    await Promise.all(functions.map(({ one }) => one.ready()));
    await waitFor('all are bound again', () => said.length >= 2 * WORKERS);
    expect(new Set(said)).toEqual(new Set(['bound']));
  });
});

describe('a trigger type of a worker', () => {
  test('[RO5] [wire 4.4] gets a trigger without an owner from any router, and its refusal is the answer', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    await using binder = await RawWorker.connect(engine.url);
    const providers = await connectAll(engine.url);
    for (const [at, provider] of providers.entries()) {
      const type = `type::${at}`;
      provider.send({ type: 'registertriggertype', id: type, description: 'Inbound' });
      await provider.settled();
      const request = { trigger_type: type, function_id: 'f', config: {} };
      const accepted = binder.call('engine::register_trigger', request);
      const first = (await provider.next('registertrigger')) as unknown as { id: string };
      provider.send({ type: 'triggerregistrationresult', id: first.id, trigger_type: type, function_id: 'f' });
      expect(await accepted).toMatchObject({ result: { id: first.id } });
      const refused = binder.call('engine::register_trigger', request);
      const second = (await provider.next('registertrigger')) as unknown as { id: string };
      const error = { code: 'trigger_registration_failed', message: 'no more' };
      provider.send({ type: 'triggerregistrationresult', id: second.id, trigger_type: type, function_id: 'f', error });
      expect(await refused).toMatchObject({ error: { message: expect.stringContaining('no more') } });
      expect(await bindingsOf(binder, type)).toHaveLength(1);
      expect(await binder.call('engine::unregister_trigger', { id: first.id, trigger_type: type })).toMatchObject({
        result: { removed: true },
      });
      // A provider on another router gets the removal of the refused one, too.
      const removals = [await provider.next('unregistertrigger')];
      if (removals[0]?.id !== first.id) removals.push(await provider.next('unregistertrigger'));
      expect(removals.at(-1)).toMatchObject({ id: first.id });
    }
    closeAll(...providers);
  });

  test('[RO5] [wire 10.13] is sent a trigger again that is registered again, without a removal', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    for await (const { at, type, provider, binder } of typesOf(engine.url)) {
      const trigger = { type: 'registertrigger', id: `t${at}`, trigger_type: type, function_id: 'f' };
      for (const path of ['/1', '/2']) binder.send({ ...trigger, config: { path } });
      for (const path of ['/1', '/2']) {
        expect(await provider.next('registertrigger')).toMatchObject({ id: `t${at}`, config: { path } });
      }
      await Promise.all([binder.settled(), provider.settled()]);
      expect(provider.frames).toEqual([]);
      closeAll(provider, binder);
    }
  });

  test('[RO5] [wire 4.3] that refuses a trigger is shown with its reason', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    for await (const { at, type, provider, binder } of typesOf(engine.url)) {
      const names = { id: `t${at}`, trigger_type: type, function_id: 'f' };
      binder.send({ type: 'registertrigger', ...names, config: {} });
      await provider.next('registertrigger');
      const error = { code: 'trigger_registration_failed', message: 'taken' };
      provider.send({ type: 'triggerregistrationresult', ...names, error });
      expect(await binder.next('triggerregistrationresult')).toMatchObject({ ...names, error });
      await waitFor('it is shown', async () => {
        const [shown] = await bindingsOf(binder, type);
        return shown?.status === 'Error' && shown.error?.includes('taken');
      });
      closeAll(provider, binder);
    }
  });
});

test('[RO3] [wire 5.1] in drop-in mode the caller id in a payload is true on every router', async () => {
  await using engine = await startTestEngine({ yaml: `compat: iii\n${YAML}`, threads: 2 });
  const [workers, callers] = [await connectAll(engine.url), await connectAll(engine.url)];
  for (const [at, worker] of workers.entries()) {
    await worker.serve(`who::${at}`, (data) => (data as { _caller_worker_id: string })._caller_worker_id);
    const caller = callers[at];
    const answer = await caller?.call(`who::${at}`, { _caller_worker_id: 'another worker' });
    expect(answer?.result).toBe(caller?.workerId);
  }
  closeAll(...workers, ...callers);
});

test('[RO8] [modules 10.3] the gauges of a worker are in its record on every router', async () => {
  await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
  const workers = Array.from({ length: WORKERS }, () => connectSdk(engine.url));
  for (const worker of workers) await worker.ready();
  await using raw = await RawWorker.connect(engine.url);
  await waitFor('all have reported', async () => {
    const { result } = await raw.call('engine::workers::list', {});
    const { workers: rows } = result as { workers: { id: string; latest_metrics: object | null }[] };
    return workers.every(({ id }) => rows.find((row) => row.id === id)?.latest_metrics != null);
  });
});
