// Calls that a log trigger caused are recognised after a restart and by other engines, so that their logs fire nothing.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const PORT = 'drain_timeout_ms: 100\nworkers:\n  - {name: svc-worker-manager, config: {port: 0}}\n';

test('[O3] A job made by a handler of a log trigger fires no log trigger after a restart', async () => {
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
  await waitFor('the last log fires', () => fired.includes('the end'));
  expect(fired).toEqual(['the end']);
});

test('[O3] A log in the context of a log trigger fires nothing after a restart', async () => {
  using folder = new TemporaryFolder();
  const kv = `{name: kv, config: {file_path: ${folder.path}}}`;
  const yaml = `${PORT}  - {name: svc-state, config: {adapter: ${kv}}}\n`;
  const traceparent = await contextOfHandler({ yaml });
  expect(await firedUnder(traceparent, { yaml })).toEqual(['the end']);
});

test('[O3] A log in the context of another engine fires nothing only if both have the same mark_key', async () => {
  const keyed = (key: string) => ({ yaml: `mark_key: ${key.repeat(32)}\n${PORT}` });
  const traceparent = await contextOfHandler(keyed('a'));
  expect(await firedUnder(traceparent, keyed('a'))).toEqual(['the end']);
  expect(await firedUnder(traceparent, keyed('b'))).toEqual(['in the context', 'the end']);
});

/** The context in which such an engine calls a handler of a log trigger. */
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

/** The messages that fire a log trigger of such an engine: one is logged in that context, one without a context. */
async function firedUnder(traceparent: string, options: { readonly yaml: string }): Promise<unknown[]> {
  await using engine: TestEngine = await startTestEngine(options);
  await using watcher = await RawWorker.connect(engine.url);
  const fired = await watch(watcher);
  await watcher.call('engine::log::error', { message: 'in the context' }, { traceparent });
  await watcher.call('engine::log::error', { message: 'the end' });
  await waitFor('the last log fires', () => fired.includes('the end'));
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
