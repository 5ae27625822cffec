import { describe, expect, test } from 'vitest';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import { OWN_SDK, openRestricted } from '../../../support/engine/restricted-port.ts';

const TYPES = { expose_functions: ['match("api::*")'], allow_trigger_types: ['t'] };

describe('functions of a restricted connection', () => {
  test('[X9] Other connections may call them until their connection ends', async () => {
    const { backend, browser, engine } = await openRestricted();
    const page = await browser();
    page.register('ui::show');
    const id = backend.invoke('ui::show', { text: 'hi' });
    page.result(page.nextCall(), 'shown');
    expect(backend.answerTo(id)).toMatchObject({ result: 'shown' });
    page.drop();
    expect(engine.context.functions.get('ui::show')).toBeUndefined();
  });

  test.each([
    'engine::x',
    'state::get',
    'stream::mine',
    'stream::get(feed)',
    'auth',
    'api::taken',
    'engine::log::info',
  ])('[X9] %s cannot be registered', async (id) => {
    const { backend, browser, engine } = await openRestricted();
    backend.register('api::taken');
    const page = await browser({ allowed_functions: [id] });
    page.register(id);
    expect(page.receivedOne('registrationrejected')).toMatchObject({
      code: 'FUNCTION_NAMESPACE_CONFLICT',
      function_id: id,
    });
    const entry = engine.context.functions.get(id);
    expect(entry?.kind === 'worker' ? entry.executors.length : 0).toBe(['auth', 'api::taken'].includes(id) ? 1 : 0);
  });

  test('[X9] A function that is a URL cannot be registered', async () => {
    const { browser, engine } = await openRestricted();
    const page = await browser(undefined, OWN_SDK);
    const invocation = { url: 'https://evil.example', auth: { type: 'bearer', token_key: 'HOME' } };
    page.register('ui::proxy', { invocation });
    expect(page.receivedOne('registrationrejected')).toMatchObject({ code: 'FORBIDDEN' });
    expect(engine.context.functions.get('ui::proxy')).toBeUndefined();
  });

  test('[X9] A trusted worker that registers the same id later gets all calls', async () => {
    const { backend, browser } = await openRestricted();
    const page = await browser();
    page.register('orders::pay');
    backend.register('orders::pay');
    expect(page.receivedOne('registrationrejected')).toMatchObject({ function_id: 'orders::pay' });
    for (let calls = 0; calls < 3; calls++) {
      backend.invoke('orders::pay');
      expect(backend.nextCall()).toMatchObject({ function_id: 'orders::pay' });
    }
    expect(page.received()).toEqual([]);
  });

  test('[X9] Several browsers may register one id, and a connection without the right is refused', async () => {
    const { backend, browser } = await openRestricted();
    const [one, other] = [await browser(), await browser()];
    for (const page of [one, other]) page.register('ui::show');
    backend.invokeVoid('ui::show');
    backend.invokeVoid('ui::show');
    expect([one.nextCall(), other.nextCall()]).toHaveLength(2);
    const mute = await browser({ allow_function_registration: false }, OWN_SDK);
    mute.register('ui::show');
    expect(mute.receivedOne('registrationrejected')).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('a prefix', () => {
  const grant = { function_registration_prefix: 'tab1' };

  test('[wire 8.5] Other connections call the function with it, and its worker sees the id without it', async () => {
    const { backend, browser, engine } = await openRestricted();
    const page = await browser(grant);
    page.register('ui::show');
    const id = backend.invoke('tab1::ui::show');
    const call = page.nextCall();
    expect(call).toMatchObject({ function_id: 'ui::show' });
    page.result(call, 1);
    expect(backend.answerTo(id)).toMatchObject({ function_id: 'tab1::ui::show', result: 1 });
    page.unregister('ui::show');
    expect(engine.context.functions.get('tab1::ui::show')).toBeUndefined();
  });

  test('[X7] It comes before the requested id, so that no other id can be taken', async () => {
    const { backend, browser, engine } = await openRestricted();
    const page = await browser({ function_registration_prefix: 'engine' });
    page.register('x');
    expect(page.receivedOne('registrationrejected')).toMatchObject({ function_id: 'x' });
    backend.register('tab1::taken');
    const other = await browser(grant);
    other.register('taken');
    expect(other.receivedOne('registrationrejected')).toMatchObject({ function_id: 'taken' });
    other.register('state::get');
    expect(engine.context.functions.get('tab1::state::get')).toBeDefined();
  });

  test('[wire 8.5] It applies to the target of a trigger, and not to calls', async () => {
    const { backend, browser, engine } = await openRestricted({ rbac: TYPES });
    backend.provideType('t');
    backend.register('api::x');
    const page = await browser(grant);
    page.register('ui::show');
    page.bind('t-1', 't', 'ui::show');
    expect(backend.receivedOne('registertrigger')).toMatchObject({ id: 't-1', function_id: 'tab1::ui::show' });
    expect(engine.context.triggers.binding('t-1')).toMatchObject({ functionId: 'tab1::ui::show' });
    page.invoke('api::x');
    expect(backend.nextCall()).toMatchObject({ function_id: 'api::x' });
  });
});

describe('triggers of a restricted connection', () => {
  test('[X9] Only listed types are accepted, and the refusal names the setting', async () => {
    const { browser, engine } = await openRestricted({ rbac: { expose_functions: ['match("api::*")'] } });
    const page = await browser();
    page.bind('b-1', 't', 'api::x');
    expect(page.receivedOne('triggerregistrationresult')).toMatchObject({
      id: 'b-1',
      trigger_type: 't',
      function_id: 'api::x',
      error: { code: 'FORBIDDEN', message: "trigger type 't' not allowed (add to rbac.allow_trigger_types)" },
    });
    expect(engine.context.triggers.binding('b-1')).toBeUndefined();
  });

  test.each(['allowed_trigger_types', 'allow_trigger_types'])(
    '[PD-41] The grant may list types as %s',
    async (field) => {
      const { browser, engine } = await openRestricted({ rbac: TYPES });
      const page = await browser({ [field]: ['mine'] });
      page.bind('b-1', 'mine', 'api::x');
      page.bind('b-2', 't', 'api::x');
      expect(engine.context.triggers.binding('b-1')).toBeDefined();
      expect(engine.context.triggers.binding('b-2')).toBeUndefined();
    },
  );

  test.each(['secret::x', 'API::x', ' api::x', 'engine::functions::list', 'tab1::api::x'])(
    '[X7] %j is refused as target, as condition and anywhere in the config',
    async (hidden) => {
      const { backend, browser, engine } = await openRestricted({ rbac: TYPES });
      backend.register('secret::x');
      const page = await browser();
      page.bind('b-1', 't', hidden);
      page.bind('b-2', 't', 'api::x', { config: { condition_function_id: hidden } });
      page.bind('b-3', 't', 'api::x', { config: { middleware_function_ids: ['api::x', hidden] } });
      page.bind('b-4', 't', 'api::x', { config: { deep: [{ function_id: hidden }] } });
      for (const result of page.received('triggerregistrationresult')) {
        const message = `function '${hidden}' not allowed in namespace 'default'`;
        expect(result).toMatchObject({ error: { code: 'FORBIDDEN', message } });
      }
      expect([...engine.context.triggers.bindings()]).toEqual([]);
    },
  );

  test('[X9] Triggers of trusted workers and of other connections cannot be replaced or removed', async () => {
    const { backend, browser, engine } = await openRestricted({ rbac: TYPES });
    backend.bind('theirs', 't', 'api::x');
    const page = await browser();
    page.bind('mine', 't', 'api::x');
    const other = await browser({ context: {} }, { from: '203.0.113.9' });
    for (const id of ['theirs', 'mine']) {
      other.bind(id, 't', 'api::y');
      other.unbind(id);
    }
    expect(other.receivedOne('triggerregistrationresult')).toMatchObject({ id: 'theirs' });
    for (const id of ['theirs', 'mine']) {
      expect(engine.context.triggers.binding(id)).toMatchObject({ functionId: 'api::x' });
    }
  });

  test('[X9] Only a trusted worker can remove a durable trigger', async () => {
    const { backend, browser, engine } = await openRestricted({ rbac: TYPES });
    const page = await browser();
    const asked = backend.invoke('engine::register_trigger', { trigger_type: 't', function_id: 'secret::x' });
    await engine.turn();
    const { id } = backend.answerTo(asked).result as { id: string };
    page.unbind(id);
    expect(engine.context.triggers.binding(id)).toBeDefined();
  });

  test('[X7] A target that is no longer exposed is not called', async () => {
    const { backend, browser } = await openRestricted({
      rbac: { expose_functions: [{ metadata: { public: true } }], allow_trigger_types: ['engine::workers-available'] },
    });
    backend.register('f', { metadata: { public: true } });
    const page = await browser();
    page.bind('b-1', 'engine::workers-available', 'f');
    backend.announce({ name: 'backend' });
    expect(backend.nextCall()).toMatchObject({ function_id: 'f' });
    backend.register('f');
    backend.announce({ name: 'backend again' });
    expect(backend.received()).toEqual([]);
  });

  test('[X7] A durable trigger that it makes may run only functions that it may call', async () => {
    const { backend, browser, engine } = await openRestricted({
      rbac: { expose_functions: ['match("engine::register_trigger")', 'match("api::*")'], allow_trigger_types: ['t'] },
    });
    backend.register('secret::x');
    const page = await browser();
    const ask = (fields: object): string => page.invoke('engine::register_trigger', fields);
    const ids = [
      ask({ trigger_type: 't', function_id: 'secret::x' }),
      ask({ trigger_type: 'other', function_id: 'api::x' }),
      ask({ trigger_type: 't', function_id: 'api::x', config: { condition_function_id: 'secret::x' } }),
    ];
    await engine.turn();
    for (const id of ids) expect(page.errorCodeOf(id)).toBe('FORBIDDEN');
    expect([...engine.context.triggers.bindings()]).toEqual([]);
  });
});

describe('trigger types of a restricted connection', () => {
  test('[X9] It may provide types if the grant allows it, but none of a trusted worker', async () => {
    const { backend, browser, engine } = await openRestricted();
    backend.provideType('theirs');
    const [plain, granted] = [await browser(), await browser({ allow_trigger_type_registration: true })];
    plain.provideType('mine');
    expect(engine.context.triggers.type('mine')).toBeUndefined();
    for (const type of ['mine', 'theirs', 'engine::functions-available', 'engine::x']) granted.provideType(type);
    const providers = ['mine', 'theirs', 'engine::x'].map((type) => {
      const provider = engine.context.triggers.type(type)?.provider;
      return provider?.kind === 'worker' ? provider.executor.workerId : undefined;
    });
    expect(providers).toEqual([granted.workerId, backend.workerId, undefined]);
  });
});

describe('registration hooks', () => {
  const hooks = {
    ...TYPES,
    on_function_registration_function_id: 'hook::f',
    on_trigger_registration_function_id: 'hook::t',
    on_trigger_type_registration_function_id: 'hook::type',
  };

  test('[wire 8.5] A function is registered as the hook answers, and its worker sees its own id', async () => {
    const { backend, browser, engine } = await openHooked();
    const page = await browser({ context: { user: 7 }, function_registration_prefix: 'p' });
    page.register('show', { description: 'd', metadata: { m: 1 } });
    const asked = backend.nextCall();
    expect(asked).toMatchObject({
      function_id: 'hook::f',
      data: { function_id: 'show', description: 'd', metadata: { m: 1 }, context: { user: 7 } },
    });
    expect(engine.context.functions.get('p::show')).toBeUndefined();
    backend.result(asked, { function_id: 'renamed', metadata: { m: 2 }, description: 7 });
    backend.invoke('p::renamed');
    expect(page.nextCall()).toMatchObject({ function_id: 'show' });
    expect(backend.ask('engine::functions::info', { function_id: 'p::renamed' })).toMatchObject({
      description: 'd',
      metadata: { m: 2 },
    });
    page.unregister('show');
    expect(engine.context.functions.get('p::renamed')).toBeUndefined();
  });

  test.each([[null], [undefined], [true], ['ok'], [[]]])(
    '[X6] The answer %j refuses the registration',
    async (answer) => {
      const { backend, browser, engine } = await openHooked();
      const page = await browser(undefined, OWN_SDK);
      page.register('ui::x');
      backend.result(backend.nextCall(), answer);
      expect(page.receivedOne('registrationrejected')).toMatchObject({ code: 'FORBIDDEN', function_id: 'ui::x' });
      expect(engine.context.functions.get('ui::x')).toBeUndefined();
    },
  );

  test.each<[string, (backend: TestWorker, advance: (ms: number) => void) => void]>([
    ['fails', (backend) => backend.fail(backend.nextCall(), { code: 'X', message: 'x' })],
    ['takes over 5 s', (_backend, advance) => advance(5_100)],
    ['is lost', (backend) => backend.drop()],
  ])('[X6] A hook that %s refuses the registration', async (_what, happen) => {
    const { backend, browser, engine } = await openHooked();
    const page = await browser(undefined, OWN_SDK);
    page.register('ui::x');
    happen(backend, (ms) => engine.advance(ms));
    expect(page.receivedOne('registrationrejected')).toMatchObject({ code: 'FORBIDDEN' });
  });

  test('[wire 12] The registrations of one connection keep their order while a hook runs', async () => {
    const { backend, browser, engine } = await openHooked();
    const page = await browser();
    page.register('ui::a');
    page.unregister('ui::a');
    page.register('ui::b');
    page.bind('b-1', 't', 'ui::b');
    backend.result(backend.nextCall(), {});
    expect(engine.context.functions.get('ui::a')).toBeUndefined();
    backend.result(backend.nextCall(), {});
    const asked = backend.nextCall();
    expect(asked).toMatchObject({
      function_id: 'hook::t',
      data: { trigger_id: 'b-1', trigger_type: 't', function_id: 'ui::b', config: {} },
    });
    backend.result(asked, {});
    expect(engine.context.triggers.binding('b-1')).toBeDefined();
  });

  test('[wire 8.5] A trigger is bound as the hook answers, and its owner sees its own ids', async () => {
    const { backend, browser, engine } = await openHooked();
    const page = await browser();
    page.bind('b-1', 't', 'api::x');
    backend.result(backend.nextCall(), { trigger_id: 'renamed', function_id: 'api::y', config: { only: 1 } });
    expect(backend.receivedOne('registertrigger')).toMatchObject({ id: 'renamed', function_id: 'api::y' });
    backend.judge({ type: '', id: 'renamed', trigger_type: 't', function_id: 'api::y' }, { code: 'C', message: 'm' });
    expect(page.receivedOne('triggerregistrationresult')).toMatchObject({
      id: 'b-1',
      trigger_type: 't',
      function_id: 'api::x',
    });
    page.unbind('b-1');
    expect([...engine.context.triggers.bindings()]).toEqual([]);
  });

  test('[wire 8.5] A registration that the hook renames replaces the one with the earlier name', async () => {
    const { backend, browser, engine } = await openHooked();
    const page = await browser({ allow_trigger_type_registration: true });
    for (const name of ['one', 'two']) {
      page.register('show');
      backend.result(backend.nextCall(), { function_id: name });
      page.bind('b', 't', 'api::x');
      backend.result(backend.nextCall(), { trigger_id: name });
      page.provideType('mine');
      const [asked] = backend.received().filter(({ type }) => type === 'invokefunction');
      if (asked === undefined) throw new Error('The hook was not asked');
      backend.result(asked, { trigger_type_id: name });
    }
    const { functions, triggers } = engine.context;
    expect([functions.get('one'), triggers.binding('one'), triggers.type('one')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(functions.get('two')).toBeDefined();
    expect(triggers.binding('two')).toBeDefined();
    expect(triggers.type('two')).toBeDefined();
  });

  test('[X7] The target that a hook gives a trigger must be exposed', async () => {
    const { backend, browser } = await openHooked();
    const page = await browser();
    for (const change of [{ function_id: 'secret::x' }, { trigger_type: 'http' }, { trigger_id: 'theirs' }]) {
      backend.bind('theirs', 't', 'api::x');
      page.bind('b-1', 't', 'api::x');
      const [asked] = backend.received().filter(({ type }) => type === 'invokefunction');
      if (asked === undefined) throw new Error('The hook was not asked');
      backend.result(asked, change);
      expect(page.receivedOne('triggerregistrationresult')).toMatchObject({ error: { code: 'FORBIDDEN' } });
    }
  });

  test('[wire 8.5] A type is provided as the hook answers, and its provider sees its own name', async () => {
    const { backend, browser } = await openHooked();
    const page = await browser({ allow_trigger_type_registration: true });
    page.provideType('mine');
    const asked = backend.nextCall();
    expect(asked.data).toMatchObject({ trigger_type_id: 'mine', description: 'Type mine' });
    backend.result(asked, { trigger_type_id: 'page::mine' });
    backend.bind('b-1', 'page::mine', 'api::x');
    expect(page.receivedOne('registertrigger')).toMatchObject({ id: 'b-1', trigger_type: 'mine' });
  });

  test('[W2] Frames that wait for a hook are dropped with their connection', async () => {
    const { backend, browser, engine } = await openHooked();
    const page = await browser();
    page.register('ui::a');
    page.register('ui::b');
    const asked = backend.nextCall();
    page.drop();
    backend.result(asked, {});
    expect(backend.received()).toEqual([]);
    expect(engine.context.functions.get('ui::a')).toBeUndefined();
  });

  async function openHooked() {
    const opened = await openRestricted({ rbac: hooks });
    for (const id of ['hook::f', 'hook::t', 'hook::type']) opened.backend.register(id);
    opened.backend.provideType('t');
    return opened;
  }
});
