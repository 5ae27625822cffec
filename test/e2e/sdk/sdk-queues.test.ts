// Queues through the SDK, and the effects of a restart with another configuration.

import { expect, test } from 'vitest';
import { Enqueue, Fatal, RetryLater, registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { queueYaml, startQueueEngine } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

async function withWorker(url: string, work: (svc: SvcWorker) => Promise<void>): Promise<void> {
  const svc = registerWorker(url, { handle_signals: false });
  try {
    await svc.ready();
    await work(svc);
  } finally {
    await svc.shutdown();
  }
}

test('[SDK-5] svc.queue enqueues, reports jobs and manages dead letters', async () => {
  await using engine = await startQueueEngine({ queues: '{mail: {max_retries: 0}}' });
  await withWorker(engine.url, async (svc) => {
    const mail = svc.queue('mail');
    let isBroken = true;
    svc.registerFunction('send', async (_to: string, { progress, messageReceiptId, attempt, queue }) => {
      expect([attempt, queue]).toEqual([1, 'mail']);
      expect(messageReceiptId).toBeDefined();
      if (isBroken) throw new Error('no server');
      void progress;
    });
    const { messageReceiptId } = await mail.enqueue('send', 'ann', { idempotency_key: 'k' });
    await waitFor('the job is a dead letter', async () => (await mail.job(messageReceiptId)).state === 'dead');
    expect(await mail.dlq.list()).toMatchObject([{ id: messageReceiptId, payload: 'ann', reason: 'failed' }]);
    isBroken = false;
    expect(await mail.dlq.redrive(messageReceiptId)).toBe(true);
    await waitFor('the job is done', async () => (await mail.job(messageReceiptId)).state === 'done');
    expect(await mail.dlq.discard(messageReceiptId)).toBe(false);
    expect([await mail.dlq.redriveAll(), await mail.dlq.purge()]).toEqual([0, 0]);
  });
});

test('[SDK-6] RetryLater names its own wait, Fatal ends the job at once', async () => {
  await using engine = await startQueueEngine({ queues: '{default: {backoff_ms: 3600000}}' });
  await withWorker(engine.url, async (svc) => {
    svc.registerFunction('steers', (_data: unknown, { attempt }) => {
      if (attempt === 1) throw new RetryLater({ after_ms: 1 });
      throw new Fatal('no use');
    });
    await svc.trigger({ function_id: 'steers', payload: 1, action: Enqueue({ queue: 'default' }) });
    const { dlq } = svc.queue('default');
    const [letter] = await waitFor('the job is a dead letter', async () => {
      const letters = await dlq.list();
      return letters.length > 0 && letters;
    });
    expect(letter).toMatchObject({ reason: 'fatal', retries: 2, error: 'FATAL: no use' });
  });
});

test('[SDK-3] A handler reports the progress of its job', async () => {
  await using engine = await startQueueEngine();
  await withWorker(engine.url, async (svc) => {
    let finish = (): void => {};
    const mayEnd = new Promise<void>((resolve) => {
      finish = resolve;
    });
    svc.registerFunction('long', async (_data: unknown, context) => {
      await context.progress({ percent: 40 });
      await mayEnd;
    });
    const queue = svc.queue('default');
    const { messageReceiptId } = await queue.enqueue('long', 1);
    await waitFor('the progress is reported', async () => (await queue.job(messageReceiptId)).progress !== undefined);
    expect((await queue.job(messageReceiptId)).progress).toEqual({ percent: 40 });
    finish();
  });
});

test('[K4] A fifo queue with jobs cannot become standard, and a removed queue keeps its jobs', async () => {
  using folder = new TemporaryFolder();
  const yaml = (queues: string): string => queueYaml({ folder: folder.path, queues });
  {
    await using engine = await startTestEngine({ yaml: yaml('{f: {type: fifo, message_group_field: g}}') });
    await withWorker(engine.url, async (svc) => {
      await svc.queue('f').enqueue('absent', { g: 1 });
    });
  }
  await expect(startTestEngine({ yaml: yaml('{f: {}}') })).rejects.toMatchObject({ exitCode: 78 });
  await using engine = await startTestEngine({ yaml: yaml('{}') });
  expect(engine.log.some((line) => line.includes('no longer configured') && line.includes('f'))).toBe(true);
});

test('[K4] A fifo queue without message_group_field is refused with the place of the error', async () => {
  const start = startTestEngine({ yaml: queueYaml({ queues: '{f: {type: fifo}}' }) });
  await expect(start).rejects.toThrow(/message_group_field/);
});
