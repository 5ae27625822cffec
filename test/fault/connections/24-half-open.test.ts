// Fault 24: a network that silently drops everything. The short form moves the engine's clock by hand; the long one
// waits.

import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { faultLine } from '../../support/load/fault-line.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const NOTICED_MS_MAX = 30_000;
const STEP_MS = 1_000;
const WORKERS = 4;

test('[fault 24] [W1] [W2] Workers on a dead network are noticed: callers get an error, and each leaves once', {
  timeout: 120_000,
}, async () => {
  const line = faultLine('24', 'half-open', `noticed ms<=${NOTICED_MS_MAX},left=${WORKERS}`);
  const turning = new TurningClock();
  const clock = IS_LONG ? systemClock : turning;
  await using engine = await startTestEngine({ clock });
  await using proxy = await CutProxy.start(engine.port);
  await using watcher = await RawWorker.connect(engine.url);
  const left: string[] = [];
  await watcher.serve('watch::workers', (data) => {
    const { event, worker_id: id } = data as { event: string; worker_id: string };
    if (event === 'worker_disconnected') left.push(id);
    return null;
  });
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(proxy.url)));
  for (const [index, worker] of workers.entries()) await worker.register(`far::f${index}`);
  watcher.send({
    type: 'registertrigger',
    id: 'watch',
    trigger_type: 'engine::workers-available',
    function_id: 'watch::workers',
    config: {},
  });
  await watcher.settled();
  const calls = workers.map((_, index) => watcher.startCall(`far::f${index}`));
  await Promise.all(workers.map((worker) => worker.next('invokefunction')));
  proxy.fallSilent();
  const fromMs = clock.monotonicMs();
  while (left.length < WORKERS && clock.monotonicMs() - fromMs < 2 * NOTICED_MS_MAX) {
    if (IS_LONG) await wait(STEP_MS);
    else turning.advance(STEP_MS);
    // The observing client sends all the time.
    await watcher.settled();
  }
  const answers = await Promise.all(calls.map((id) => watcher.answerTo(id)));
  const noticedMs = clock.monotonicMs() - fromMs;
  await watcher.settled();
  line.figure = `noticed ms=${Math.round(noticedMs)},left=${left.length}`;
  expect(answers).toMatchObject(calls.map(() => ({ error: { code: 'invocation_stopped' } })));
  expect(noticedMs).toBeLessThanOrEqual(NOTICED_MS_MAX);
  expect(left.sort()).toEqual(workers.map(({ workerId }) => workerId).sort());
  for (const worker of workers) worker.socket.terminate();
});
