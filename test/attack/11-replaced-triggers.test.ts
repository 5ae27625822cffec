// A trigger is identified by its id, which lists show. A connection from the same address must not replace the trigger
// of another one by registering that id, and a client that reconnects must get its own trigger back.

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type Frame, RawWorker } from '../support/clients/raw-worker.ts';
import { startTestEngine } from '../support/engine/test-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectPage } from './restricted-page.ts';

const NO_AUTH_FUNCTION = '{}';
const TOKENS_ARE_PREFIXES = '{auth_function_id: auth}';

describe.each(['uws', 'ws'])('the trigger of a connection on %s', (transport) => {
  beforeEach(() => vi.stubEnv('SVC_TRANSPORT', transport));

  test('is not replaced by an anonymous connection of the same address, whose registration waits', async () => {
    await using scene = await openScene(NO_AUTH_FUNCTION);
    const victim = await scene.page();
    await bindTo(victim, 'api::victim');
    const thieves = await Promise.all(Array.from({ length: 10 }, () => scene.page()));
    await Promise.all(thieves.map((thief) => bindTo(thief, 'api::thief')));
    expect(await scene.targets()).toEqual(['api::victim']);
    expect(await scene.fire()).toBe('api::victim');
  });

  test('is not replaced by a connection with another prefix or without one', async () => {
    await using scene = await openScene(TOKENS_ARE_PREFIXES);
    await bindToOwn(await scene.page('user-1'));
    for (const token of ['user-2', 'user-', 'user-1 ', 'USER-1', 'user-1:', 'none']) {
      await bindToOwn(await scene.page(token));
    }
    expect(await scene.targets()).toEqual(['user-1::api::own']);
    expect(await scene.fire()).toBe('api::own of user-1');
  });

  test('is not replaced when neither connection has a prefix', async () => {
    await using scene = await openScene(TOKENS_ARE_PREFIXES);
    const victim = await scene.page('none');
    await bindTo(victim, 'api::victim');
    for (const token of ['none', 'null', 'user-1']) await bindTo(await scene.page(token), 'api::thief');
    expect(await scene.targets()).toEqual(['api::victim']);
  });

  test('is replaced at once by a connection of the same prefix', async () => {
    await using scene = await openScene(TOKENS_ARE_PREFIXES);
    const old = await scene.page('user-1');
    await bindToOwn(old);
    await bindToOwn(await scene.page('user-1'), 'api::again');
    expect(await scene.targets()).toEqual(['user-1::api::again']);
    old.send({ type: 'unregistertrigger', id: BINDING.id });
    await old.settled();
    expect(await scene.fire()).toBe('api::again of user-1');
  });

  test('leaves no names with the connection that it was taken from', async () => {
    await using scene = await openScene(TOKENS_ARE_PREFIXES);
    const old = await scene.page('user-1');
    await bindToOwn(old);
    await bindToOwn(await scene.page('user-1'));
    // A page whose triggers are taken one after the other would keep the names of all of them.
    old.send({ ...BINDING, type: 'registertrigger', trigger_type: 'unknown', function_id: 'other' });
    const { trigger_type, function_id } = await old.next('triggerregistrationresult');
    expect({ trigger_type, function_id }).toEqual({ trigger_type: 'unknown', function_id: 'other' });
  });

  test('is not replaced after a reattach with a forged token', async () => {
    await using scene = await openScene(NO_AUTH_FUNCTION);
    const victim = await scene.page();
    await bindTo(victim, 'api::victim');
    const thief = await scene.page();
    for (const reattach_token of ['', 'guess', thief.reattachToken, victim.workerId, victim.reattachToken.slice(1)]) {
      thief.send({ type: 'reattach', previous_worker_id: victim.workerId, reattach_token });
    }
    thief.send({ type: 'reattach', previous_worker_id: victim.workerId });
    await bindTo(thief, 'api::thief');
    expect(await scene.targets()).toEqual(['api::victim']);
    expect(scene.engine.counters.get('reattach.refused')).toBe(6);
  });

  test('stays with its client over a valid reattach, also while others wait for the id', async () => {
    await using scene = await openScene(NO_AUTH_FUNCTION);
    const victim = await scene.page();
    await bindTo(victim, 'api::victim');
    await bindTo(await scene.page(), 'api::thief');
    const successor = await scene.page();
    const { workerId: previous_worker_id, reattachToken: reattach_token } = victim;
    successor.send({ type: 'reattach', previous_worker_id, reattach_token });
    await successor.settled();
    // The old connection is gone, and the new one has not registered its triggers yet.
    await bindTo(await scene.page(), 'api::thief');
    expect(await scene.targets()).toEqual([]);
    await bindTo(successor, 'api::again');
    expect(await scene.targets()).toEqual(['api::again']);
  });

  test('is refused at once if it has the id of a trusted or a durable trigger', async () => {
    await using scene = await openScene(NO_AUTH_FUNCTION);
    await bindTo(scene.backend, 'api::victim');
    const own = { trigger_type: 'not there yet', function_id: 'api::victim' };
    const durable = await scene.backend.call('engine::register_trigger', own);
    const thief = await scene.page();
    for (const id of ['t-1', String(Reflect.get(Object(durable.result), 'id'))]) {
      await bindTo(thief, 'api::thief', id);
      const refusal = await thief.next('triggerregistrationresult');
      expect(refusal).toMatchObject({ id, error: { code: 'FORBIDDEN' } });
    }
    expect(await scene.targets()).toEqual(['api::victim']);
  });

  test('is not unregistered by another connection', async () => {
    await using scene = await openScene(NO_AUTH_FUNCTION);
    await bindTo(await scene.page(), 'api::victim');
    const thief = await scene.page();
    await bindTo(thief, 'api::thief');
    thief.send({ type: 'unregistertrigger', id: 't-1' });
    await thief.settled();
    expect(await scene.targets()).toEqual(['api::victim']);
  });

  test('is replaced by a waiting connection as soon as its own connection ends', async () => {
    await using scene = await openScene(NO_AUTH_FUNCTION);
    const old = await scene.page();
    await bindTo(old, 'api::old');
    const successor = await scene.page();
    await bindTo(successor, 'api::again');
    expect(await scene.targets()).toEqual(['api::old']);
    scene.clearProvider();
    old.socket.terminate();
    await waitFor('the successor has the trigger', async () => (await scene.targets())[0] === 'api::again');
    // The provider may be connected to another router than the worker that asks.
    await waitFor('the provider has it', () => scene.sentToProvider().length > 1);
    expect(scene.sentToProvider()).toEqual(['unregistertrigger api::old', 'registertrigger api::again']);
    expect(await scene.fire()).toBe('api::again');
    expect(successor.frames).toEqual([]);
  });

  test('is not sent to another connection that registers the type of its provider', async () => {
    await using scene = await openScene(TOKENS_ARE_PREFIXES);
    const victim = await scene.page('provider');
    victim.send({ type: 'registertriggertype', id: 'theirs', description: 'Theirs' });
    await victim.settled();
    scene.backend.send({ ...BINDING, id: 'b', trigger_type: 'theirs', function_id: 'api::victim', config: 'secret' });
    await victim.next('registertrigger');
    const thief = await scene.page('provider');
    thief.send({ type: 'registertriggertype', id: 'theirs', description: 'Mine' });
    await thief.settled();
    expect(thief.frames).toEqual([]);
    await victim[Symbol.asyncDispose]();
    expect(await thief.next('registertrigger')).toMatchObject({ id: 'b' });
  });
});

const BINDING = { type: 'registertrigger', id: 't-1', trigger_type: 'tick', config: {} };

/** An engine with a restricted port and a trusted worker that provides the type `tick` and registers all targets. */
async function openScene(rbac: string) {
  const rules = rbac
    .replace(/}$/, '')
    .replace('{', '{allow_trigger_types: [tick], expose_functions: [\'match("api::*")\'], ');
  const engine = await startTestEngine({
    yaml: `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: ${rules.replace(/, $/, '')}}}}
`,
  });
  const backend = await RawWorker.connect(engine.url);
  await backend.serve('auth', (input) => grantOf(String(Reflect.get(Object(input), 'query_params').token?.[0])));
  for (const id of ['api::victim', 'api::thief', 'api::old', 'api::again']) await backend.serve(id, () => id);
  const provider = await RawWorker.connect(engine.url);
  provider.send({ type: 'registertriggertype', id: 'tick', description: 'Fired by hand' });
  await provider.settled();
  const pages: RawWorker[] = [];
  const rows = async (): Promise<readonly Frame[]> => {
    const { result } = await backend.call('engine::registered-triggers::list', { trigger_type: 'tick' });
    return Reflect.get(Object(result), 'registered_triggers');
  };
  return {
    engine,
    backend,
    async page(token = 'none'): Promise<RawWorker> {
      const page = await connectPage(engine, { path: `/?token=${encodeURIComponent(token)}` });
      pages.push(page);
      return page;
    },
    /** The functions of the triggers of the type, sorted. */
    targets: async () => (await rows()).map(({ function_id }) => function_id).sort(),
    /** The result of the function of the first trigger, called by the provider. */
    async fire(): Promise<unknown> {
      const [row] = await rows();
      return (await provider.call(String(row?.function_id))).result;
    },
    clearProvider: () => void provider.frames.splice(0),
    sentToProvider: () => provider.frames.map(({ type, function_id }) => `${type} ${function_id}`),
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([backend, provider, ...pages].map((worker) => worker[Symbol.asyncDispose]()));
      await engine.drain();
    },
  };
}

function grantOf(token: string): Readonly<Record<string, unknown>> {
  if (token === 'none') return { context: {} };
  if (token === 'null') return { context: {}, function_registration_prefix: null };
  if (token === 'provider') return { allow_trigger_type_registration: true };
  return { function_registration_prefix: token };
}

/** The same for a function of the page itself: with a prefix it may name no other. */
async function bindToOwn(page: RawWorker, functionId = 'api::own'): Promise<void> {
  const token = new URL(page.socket.url).searchParams.get('token');
  await page.serve(functionId, () => `${functionId} of ${token}`);
  await bindTo(page, functionId);
}

/** Registers the trigger and waits until the engine has read it. */
async function bindTo(worker: RawWorker, function_id: string, id = BINDING.id): Promise<void> {
  worker.send({ ...BINDING, id, function_id });
  await worker.settled();
}
