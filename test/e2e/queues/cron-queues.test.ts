// Cron triggers that name a queue (PD-54).

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const yaml = (folder: string): string => `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-cron
    config: {adapter: {name: kv, config: {file_path: ${folder}}}}
  - name: svc-queue
    config:
      queue_configs: {ticks: {max_retries: 2, backoff_ms: 10}}
      adapter: {name: builtin, config: {file_path: ${folder}}}
`;

function bind(worker: RawWorker, config: object): Promise<unknown> {
  worker.send({ type: 'registertrigger', id: 't1', trigger_type: 'cron', function_id: 'report', config });
  return worker.settled();
}

test('[CR1] A tick of a trigger with a queue becomes a job that is retried when it fails', async () => {
  using folder = new TemporaryFolder();
  await using engine = await startTestEngine({ yaml: yaml(folder.path) });
  await using worker = await RawWorker.connect(engine.url);
  const seen: { readonly at: unknown; readonly attempt: unknown }[] = [];
  await worker.serve('report', (data, { metadata }) => {
    const { attempt } = metadata as { attempt: number };
    seen.push({ at: (data as { scheduled_time: string }).scheduled_time, attempt });
    if (attempt === 1) throw new Error('not yet');
  });
  await bind(worker, { expression: '* * * * * *', queue: 'ticks' });
  const first = await waitFor(
    'one tick has a second attempt',
    () => {
      const again = seen.find(({ attempt }) => attempt === 2);
      return again !== undefined && again;
    },
    10_000,
  );
  expect(seen.filter(({ at }) => at === first.at).map(({ attempt }) => attempt)).toEqual([1, 2]);
});

test('[CR1] Ticks of an absent function wait in their queue, also over a restart, and run once each', async () => {
  using folder = new TemporaryFolder();
  let waiting = 0;
  {
    await using engine = await startTestEngine({ yaml: yaml(folder.path) });
    await using worker = await RawWorker.connect(engine.url);
    await bind(worker, { expression: '* * * * * *', queue: 'ticks' });
    await waitFor('two ticks wait', async () => (await statsOf(worker, 'ticks')).depth >= 2, 10_000);
    worker.send({ type: 'unregistertrigger', id: 't1' });
    await worker.settled();
    waiting = await waitFor('no tick is running', async () => {
      const { states } = await statsOf(worker, 'ticks');
      return states.waiting === 0 && states.running === 0 && states.waiting_for_worker;
    });
  }
  await using engine = await startTestEngine({ yaml: yaml(folder.path) });
  await using worker = await RawWorker.connect(engine.url);
  const seen: unknown[] = [];
  await worker.serve('report', (data) => seen.push((data as { scheduled_time: string }).scheduled_time));
  await waitFor('all have run', () => seen.length >= waiting);
  await waitFor('none is left', async () => (await statsOf(worker, 'ticks')).depth === 0);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen).toHaveLength(waiting);
});

test('[CR1] A trigger with an unknown queue shows that as its error', async () => {
  using folder = new TemporaryFolder();
  await using engine = await startTestEngine({ yaml: yaml(folder.path) });
  await using worker = await RawWorker.connect(engine.url);
  await bind(worker, { expression: '* * * * * *', queue: 'nowhere' });
  const error = await waitFor(
    'the trigger has an error',
    async () => {
      const { result } = await worker.call('engine::registered-triggers::list', { trigger_type: 'cron' });
      const [row] = (result as { registered_triggers: { error?: string }[] }).registered_triggers;
      return row?.error !== undefined && row.error !== null && row.error;
    },
    10_000,
  );
  expect(error).toContain(`Queue 'nowhere' not found`);
});
