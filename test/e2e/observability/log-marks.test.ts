// What a log trigger caused is known after a restart and by other engines, so that its handlers fire nothing.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const PORT = 'drain_timeout_ms: 100\nworkers:\n  - {name: svc-worker-manager, config: {port: 0}}\n';

test('[O3] A job that a handler of a log trigger made fires nothing when it runs after a restart of the engine', async () => {
  using folder = new TemporaryFolder();
  const builtin = `{name: builtin, config: {file_path: ${folder.path}}}`;
  const yaml = `${PORT}  - {name: svc-queue, config: {queue_configs: {mail: {type: standard}}, adapter: ${builtin}}}\n`;
  {
    await using engine = await startTestEngine({ yaml });
    await using watcher = await RawWorker.connect(engine.url);
    const fired = await watch(watcher, (traceparent) => {
      const action = { type: 'enqueue', queue: 'mail' };
      watcher.startCall('mail::send', {}, { traceparent, action });
    });
    await watcher.call('engine::log::error', { message: 'the cause' });
    await watcher.next('invocationresult', ({ result }) => Object(result).messageReceiptId !== undefined);
    expect(fired).toEqual(['the cause']);
  }
  await using engine = await startTestEngine({ yaml });
  await using watcher = await RawWorker.connect(engine.url);
  const fired = await watch(watcher);
  await using mailer = await RawWorker.connect(engine.url);
  await mailer.register('mail::send');
  const job = await mailer.next('invokefunction');
  await mailer.call('engine::log::error', { message: 'from the job' });
  mailer.answer(job, { result: null });
  await mailer.settled();
  await watcher.call('engine::log::error', { message: 'the end' });
  await waitFor('the end fires', () => fired.includes('the end'));
  expect(fired).toEqual(['the end']);
});

test('[O3] A worker that goes on with a marked context after a restart is known to the new engine', async () => {
  using folder = new TemporaryFolder();
  const kv = `{name: kv, config: {file_path: ${folder.path}}}`;
  const yaml = `${PORT}  - {name: svc-state, config: {adapter: ${kv}}}\n`;
  const traceparent = await contextOfHandler({ yaml });
  expect(await firedUnder(traceparent, { yaml })).toEqual(['the end']);
});

test('[O3] Engines with the same mark_key know what log triggers of the others caused, and others do not', async () => {
  const keyed = (key: string) => ({ yaml: `mark_key: ${key.repeat(32)}\n${PORT}` });
  const traceparent = await contextOfHandler(keyed('a'));
  expect(await firedUnder(traceparent, keyed('a'))).toEqual(['the end']);
  expect(await firedUnder(traceparent, keyed('b'))).toEqual(['in the context', 'the end']);
});

/** The context that a handler of a log trigger of such an engine is called with. */
async function contextOfHandler(options: { readonly yaml: string }): Promise<string> {
  await using engine: TestEngine = await startTestEngine(options);
  await using watcher = await RawWorker.connect(engine.url);
  let context: string | undefined;
  await watch(watcher, (traceparent) => {
    context = traceparent;
  });
  await watcher.call('engine::log::error', { message: 'the cause' });
  return await waitFor('the handler is called', () => context);
}

/** What a log trigger of such an engine fires for when something is logged in that context, and then without one. */
async function firedUnder(traceparent: string, options: { readonly yaml: string }): Promise<unknown[]> {
  await using engine: TestEngine = await startTestEngine(options);
  await using watcher = await RawWorker.connect(engine.url);
  const fired = await watch(watcher);
  await watcher.call('engine::log::error', { message: 'in the context' }, { traceparent });
  await watcher.call('engine::log::error', { message: 'the end' });
  await waitFor('the end fires', () => fired.includes('the end'));
  return fired;
}

async function watch(worker: RawWorker, act: (traceparent: string) => void = () => {}): Promise<unknown[]> {
  const fired: unknown[] = [];
  await worker.serve('watch::errors', (record, { traceparent }) => {
    fired.push(Object(record).body);
    act(String(traceparent));
  });
  const config = { level: 'error' };
  worker.send({ type: 'registertrigger', id: 'e', trigger_type: 'log', function_id: 'watch::errors', config });
  await worker.settled();
  return fired;
}
