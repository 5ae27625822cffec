// Triggers registered through svc-sdk, fired by a real engine.

import { expect, test } from 'vitest';
import {
  type LogTrigger,
  onLog,
  onState,
  onStream,
  registerWorker,
  type StateEvent,
  type StreamTriggerCustomEvent,
  type StreamTriggerEvent,
} from '../../../src/sdk/index.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { STATE_IN_MEMORY } from '../sdk-workers.ts';

const YAML = `${STATE_IN_MEMORY}  - name: svc-stream
    config: {port: 0, adapter: {name: kv, config: {store_method: in_memory}}}
`;

async function startWorker() {
  const engine = await startTestEngine({ yaml: YAML });
  const svc = registerWorker(engine.url, { handle_signals: false, log: () => {} });
  return {
    svc,
    async [Symbol.asyncDispose]() {
      await svc.shutdown();
      await engine.drain();
    },
  };
}

test('[SDK-4] onState and onStream bind a function to what changes there, and to nothing else', async () => {
  await using started = await startWorker();
  const { svc } = started;
  const states: StateEvent<number>[] = [];
  const streams: StreamTriggerEvent<unknown>[] = [];
  const heard = svc.registerFunction('test::state', (event: StateEvent<number>) => void states.push(event));
  const said = svc.registerFunction('test::stream', (event: StreamTriggerEvent<unknown>) => void streams.push(event));
  await svc.registerTrigger({ ...onState('shop', { key: 'limit' }), function_id: heard }).ready();
  await svc.registerTrigger({ ...onStream('chat', { group_id: 'room' }), function_id: said }).ready();
  await svc.state.set('shop', 'other', 1);
  await svc.state.set('shop', 'limit', 2);
  await svc.stream('chat').group('elsewhere').set('m', 1);
  await svc.stream('chat').group('room').set('m', { text: 'hello' });
  await waitFor('both have fired', () => states.length > 0 && streams.length > 0);
  expect(states).toMatchObject([{ scope: 'shop', key: 'limit', old_value: null, new_value: 2 }]);
  expect(streams).toMatchObject([
    {
      type: 'create',
      streamName: 'chat',
      groupId: 'room',
      id: 'm',
      event: { type: 'create', data: { text: 'hello' } },
    },
  ]);
});

test('[SDK-4] onStream with include_events reports custom events too', async () => {
  await using started = await startWorker();
  const { svc } = started;
  const events: StreamTriggerCustomEvent<string>[] = [];
  const said = svc.registerFunction(
    'test::stream',
    (event: StreamTriggerCustomEvent<string>) => void events.push(event),
  );
  await svc.registerTrigger({ ...onStream('chat', { include_events: true }), function_id: said }).ready();
  await svc.stream('chat').group('room').send('typing', 'ann');
  await waitFor('it has fired', () => events.length > 0);
  expect(events).toMatchObject([{ type: 'event', groupId: 'room', event: { event: { type: 'typing', data: 'ann' } } }]);
});

test('[SDK-4] onLog binds a function to the records of a level', async () => {
  await using started = await startWorker();
  const { svc } = started;
  const bodies: string[] = [];
  const page = svc.registerFunction('test::page', ({ body }: { body: string }) => void bodies.push(body));
  await svc.registerTrigger({ ...onLog({ level: 'error' }), function_id: page }).ready();
  await svc.trigger({ function_id: 'engine::log::info', payload: { message: 'all is well' } });
  await svc.trigger({ function_id: 'engine::log::error', payload: { message: 'no stock' } });
  await waitFor('it has fired', () => bodies.length > 0);
  expect(bodies).toEqual(['no stock']);
});

test('[SDK-4] trigger definitions are plain objects', () => {
  const trigger: LogTrigger = onLog({ level: 'warn' });
  expect(trigger).toEqual({ type: 'log', config: { level: 'warn' } });
  expect(onState()).toEqual({ type: 'state', config: {} });
  expect(onStream('chat')).toEqual({ type: 'stream', config: { stream_name: 'chat' } });
});
