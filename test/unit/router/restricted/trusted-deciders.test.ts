// Functions whose answer grants rights: auth functions, hooks, middleware, conditions of trusted triggers. While the
// worker of such a function is away, any restricted connection may register its id.

import { describe, expect, test } from 'vitest';
import { authorise } from '../../../../src/modules/stream/admission.ts';
import { rawJson } from '../../../../src/protocol/json/byte-string.ts';
import { Payload } from '../../../../src/protocol/payload/payload.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import type { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { addTriggerType } from '../../../support/engine/module-trigger-type.ts';
import { OWN_SDK, openRestricted } from '../../../support/engine/restricted-port.ts';
import { requestOf } from '../../../support/engine/worker-port.ts';

const rbac = { expose_functions: ['match("api::*")'], allow_trigger_types: ['tick'] };
const nothing = Payload.ofText(rawJson({}));

describe('a restricted connection that registers the id of an absent trusted function', () => {
  test('[X6] [X9] is not called as the auth function of a port', async () => {
    const { port, engine, auth, browser } = await openRestricted({ rbac });
    const page = await browser();
    auth.drop();
    // Even if pages may register that name.
    engine.context.reservations.release('function', 'auth');
    page.register('auth');
    expect(engine.context.functions.get('auth')).toMatchObject({ executors: [{ workerId: page.workerId }] });
    expect(await port.verdict()).toMatchObject({ status: 401 });
    expect(page.received()).toEqual([]);
  });

  test('[X6] [X9] is not called as the auth function of streams', async () => {
    const { engine, page } = await withPage('may-watch');
    const verdict = await authorise(engine.port, 'may-watch', requestOf(), '10.0.0.7', 5_000);
    expect(verdict).toMatchObject({ ok: false });
    expect(page.received()).toEqual([]);
  });

  test('[X6] [X9] is not called as a registration hook', async () => {
    const hooked = await openRestricted({ rbac: { ...rbac, on_function_registration_function_id: 'hook' } });
    const { engine, auth } = hooked;
    const page = await hooked.browser(undefined, OWN_SDK);
    auth.unregister('auth');
    const elsewhere = await openRestricted({ engine, rbac });
    const outsider = await elsewhere.browser();
    outsider.register('hook');
    page.register('ui::x');
    expect(page.receivedOne('registrationrejected')).toMatchObject({ code: 'FORBIDDEN', function_id: 'ui::x' });
    expect(outsider.received()).toEqual([]);
  });

  test('[X6] [X9] is not called as middleware', async () => {
    const { backend, browser } = await openRestricted({ rbac, config: { middleware_function_id: 'mw' } });
    const [page, other] = [await browser(), await browser()];
    backend.register('api::x');
    page.register('mw');
    for (const caller of [page, other]) expect(caller.errorCodeOf(caller.invoke('api::x'))).toBe('FORBIDDEN');
    expect(page.received().filter(({ type }) => type === 'invokefunction')).toEqual([]);
    expect(backend.received()).toEqual([]);
  });

  test('[X6] [X9] is not called as the condition of a trusted trigger, only of its own', async () => {
    const { engine, page, backend } = await withPage('cond');
    const { bindings } = addTriggerType(engine, 'tick');
    backend.register('api::x');
    backend.bind('t', 'tick', 'api::x', { config: { condition_function_id: 'cond' } });
    engine.port.fire(bindings, nothing, { depth: 0 });
    expect([page.received(), backend.received()]).toEqual([[], []]);
    expect(engine.count('triggers.condition_failed')).toBe(1);
    page.bind('mine', 'tick', 'api::x', { config: { condition_function_id: 'cond' } });
    engine.port.fire(
      [...bindings].filter(({ id }) => id === 'mine'),
      nothing,
      { depth: 0 },
    );
    page.result(page.nextCall(), true);
    expect(backend.nextCall()).toMatchObject({ function_id: 'api::x' });
  });
});

describe('a trigger whose owner left between the event and the call', () => {
  test('[X7] [W2] does not reach a function that another restricted connection now has', async () => {
    const { engine, page, backend } = await withPage('pay');
    const { bindings } = addTriggerType(engine, 'tick');
    page.bind('mine', 'tick', 'pay');
    const [binding] = bindings;
    page.drop();
    backend.register('pay');
    expect(codeOfCall(engine, 'pay', binding)).toBe('FORBIDDEN');
    expect(backend.received()).toEqual([]);
  });

  test('[W2] of a trusted worker reaches another worker of the function', async () => {
    const { engine, backend } = await withPage('x');
    const { bindings } = addTriggerType(engine, 'tick');
    const other = engine.connect();
    for (const worker of [backend, other]) worker.register('api::x');
    backend.bind('t', 'tick', 'api::x');
    const [binding] = bindings;
    backend.drop();
    expect(codeOfCall(engine, 'api::x', binding)).toBeUndefined();
    expect(other.nextCall()).toMatchObject({ function_id: 'api::x' });
  });
});

type Binding = Parameters<EngineInMemory['port']['checkBinding']>[0];

/** The code of the error with which the call of that trigger ended at once. */
function codeOfCall(engine: EngineInMemory, functionId: string, binding: Binding | undefined): string | undefined {
  if (binding === undefined) throw new Error('The trigger was not bound');
  let code: string | undefined;
  engine.port.call({ functionId, payload: nothing, depth: 0, binding }, ({ error }) => {
    code = /"code":"(\w+)"/.exec(error?.asText() ?? '')?.[1];
  });
  return code;
}

/** A page that has registered the id, which no trusted worker offers. */
async function withPage(id: string): Promise<{ engine: EngineInMemory; page: TestWorker; backend: TestWorker }> {
  const { engine, backend, browser } = await openRestricted({ rbac });
  const page = await browser();
  page.register(id);
  return { engine, page, backend };
}
