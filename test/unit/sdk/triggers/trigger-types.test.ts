import { describe, expect, test } from 'vitest';
import type { TriggerBinding, TriggerTypeProvider } from '../../../../src/sdk/triggers/trigger-definition.ts';
import type { FakePlatform, FakeSocket } from '../../../support/fakes/fake-platform.ts';
import { startSdkWorker } from '../../../support/fakes/sdk-worker.ts';

const provider: TriggerTypeProvider = { registerTrigger() {}, unregisterTrigger() {} };

/** A worker that provides the type `tick` and records its calls. */
async function setUp(provider: Partial<TriggerTypeProvider> = {}) {
  const { platform, svc } = startSdkWorker();
  const notices: string[] = [];
  const type = svc.registerTriggerType(
    { id: 'tick', description: 'Tick' },
    {
      registerTrigger: (binding) => void notices.push(`+${binding.id}`),
      unregisterTrigger: (binding) => void notices.push(`-${binding.id}`),
      ...provider,
    },
  );
  return { platform, svc, notices, type, socket: await platform.connect() };
}

const bind = (id: string, rest: object = {}) => ({
  type: 'registertrigger',
  id,
  trigger_type: 'tick',
  function_id: 'a::b',
  config: { every: 1 },
  ...rest,
});

async function say(platform: FakePlatform, socket: FakeSocket, frame: object) {
  socket.take();
  socket.say(frame);
  await platform.settle();
  return socket.take();
}

describe('providing a trigger type', () => {
  test('[SDK-7] a type without a description is sent with an empty one', async () => {
    const { platform, svc, socket } = await setUp();
    socket.take();
    // As a program without types could write it.
    Reflect.apply(svc.registerTriggerType, svc, [{ id: 'tock' }, provider]);
    await platform.settle();
    expect(socket.take()).toEqual([{ type: 'registertriggertype', id: 'tock', description: '' }]);
  });

  test('[SDK-7] the provider gets each trigger with all its fields, and the engine gets the acceptance', async () => {
    const bindings: TriggerBinding[] = [];
    const { platform, socket } = await setUp({ registerTrigger: (binding) => void bindings.push(binding) });
    const answers = await say(platform, socket, bind('tr-1', { metadata: { tenant: 'acme' } }));
    expect(bindings).toEqual([
      { id: 'tr-1', type: 'tick', function_id: 'a::b', config: { every: 1 }, metadata: { tenant: 'acme' } },
    ]);
    expect(answers).toEqual([
      { type: 'triggerregistrationresult', id: 'tr-1', trigger_type: 'tick', function_id: 'a::b' },
    ]);
  });

  test('[SDK-7] a provider that throws, at once or later, refuses with its own message', async () => {
    const { platform, socket, notices } = await setUp({
      registerTrigger: (binding) => {
        if (binding.id === 'tr-1') throw new Error('every must be over 5');
        return Promise.reject(new Error('no room'));
      },
    });
    expect(await say(platform, socket, bind('tr-1'))).toMatchObject([
      { error: { code: 'trigger_registration_failed', message: 'every must be over 5' } },
    ]);
    expect(await say(platform, socket, bind('tr-2'))).toMatchObject([
      { error: { code: 'trigger_registration_failed', message: 'no room' } },
    ]);
    await say(platform, socket, { type: 'unregistertrigger', id: 'tr-1', trigger_type: 'tick' });
    expect(notices).toEqual([]);
  });

  test('[SDK-7] a trigger of a type that this worker does not provide is refused', async () => {
    const { platform, socket } = await setUp();
    expect(await say(platform, socket, bind('tr-1', { trigger_type: 'tock' }))).toMatchObject([
      { trigger_type: 'tock', error: { code: 'trigger_type_not_found' } },
    ]);
  });

  test('[SDK-7] the provider gets the removal of a trigger once, with all its fields', async () => {
    const bindings: TriggerBinding[] = [];
    const { platform, socket } = await setUp({ unregisterTrigger: (binding) => void bindings.push(binding) });
    await say(platform, socket, bind('tr-1'));
    await say(platform, socket, { type: 'unregistertrigger', id: 'tr-1', trigger_type: 'tick' });
    await say(platform, socket, { type: 'unregistertrigger', id: 'tr-1', trigger_type: 'tick' });
    await say(platform, socket, { type: 'unregistertrigger', id: 'tr-9', trigger_type: 'tick' });
    expect(bindings).toMatchObject([{ id: 'tr-1', function_id: 'a::b', config: { every: 1 } }]);
  });

  test('[SDK-7] a slow provider gets the changes of one trigger one after another', async () => {
    const gates: (() => void)[] = [];
    const order: string[] = [];
    const slowly = (sign: string) => async (binding: TriggerBinding) => {
      order.push(`${sign}${binding.id} begins`);
      await new Promise<void>((resolve) => gates.push(resolve));
      order.push(`${sign}${binding.id} ends`);
    };
    const { platform, socket } = await setUp({ registerTrigger: slowly('+'), unregisterTrigger: slowly('-') });
    socket.say(bind('tr-1'));
    socket.say({ type: 'unregistertrigger', id: 'tr-1', trigger_type: 'tick' });
    socket.say(bind('tr-1'));
    socket.say(bind('tr-2'));
    for (let at = 0; at < 4; at++) {
      await platform.settle();
      gates.shift()?.();
    }
    await platform.settle();
    expect(order.filter((line) => line.includes('tr-1'))).toEqual([
      '+tr-1 begins',
      '+tr-1 ends',
      '-tr-1 begins',
      '-tr-1 ends',
      '+tr-1 begins',
      '+tr-1 ends',
    ]);
    expect(order.indexOf('+tr-2 begins')).toBeLessThan(order.indexOf('+tr-1 ends'));
  });

  test('[SDK-7] a provider that fails to remove a trigger is logged once', async () => {
    const { platform, socket } = await setUp({
      unregisterTrigger: () => {
        throw new Error('stuck');
      },
    });
    await say(platform, socket, bind('tr-1'));
    await say(platform, socket, { type: 'unregistertrigger', id: 'tr-1', trigger_type: 'tick' });
    expect(platform.logs).toEqual([
      { level: 'error', message: "trigger type 'tick' could not give up the binding 'tr-1': stuck" },
    ]);
  });

  test('[SDK-7] the triggers of a withdrawn type are removed', async () => {
    const { platform, socket, notices, type } = await setUp();
    await say(platform, socket, bind('tr-1'));
    type.unregister();
    await platform.settle();
    expect(notices).toEqual(['+tr-1', '-tr-1']);
  });
});

describe('a provider after a reconnect', () => {
  test('[W4] removes the triggers that the engine no longer has, and keeps those it sends again', async () => {
    const { platform, socket, notices } = await setUp();
    await say(platform, socket, bind('tr-kept'));
    await say(platform, socket, bind('tr-removed'));
    socket.drop();
    await platform.pass(15_000);
    const next = await platform.connect('w-2');
    next.say(bind('tr-kept'));
    await platform.settle();
    expect(notices).toEqual(['+tr-kept', '+tr-removed', '+tr-kept']);
    const [probe] = next.takeType('invokefunction');
    next.say({ type: 'invocationresult', invocation_id: probe?.invocation_id, error: { code: 'X', message: '' } });
    await platform.settle();
    expect(notices).toEqual(['+tr-kept', '+tr-removed', '+tr-kept', '-tr-removed']);
  });

  test('[W4] answers on the connection of the request only', async () => {
    let finish = (): void => {};
    const { platform, socket } = await setUp({
      registerTrigger: () => new Promise<void>((resolve) => (finish = resolve)),
    });
    socket.say(bind('tr-1'));
    await platform.settle();
    socket.drop();
    await platform.pass(15_000);
    const next = await platform.connect('w-2');
    next.take();
    finish();
    await platform.settle();
    expect(next.takeType('triggerregistrationresult')).toEqual([]);
  });
});
