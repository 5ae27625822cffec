// One supervised worker project, with real processes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ProjectWorker } from '../../../src/core/workers/worker-manifest.ts';
import { type Clock, systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { projectWorkersModule } from '../../../src/modules/project-workers/index.ts';
import { SupervisedWorker } from '../../../src/modules/project-workers/supervised-worker.ts';
import { Supervisor } from '../../../src/modules/project-workers/supervisor.ts';
import { EngineInMemory } from '../../support/engine/engine-in-memory.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

let folder: TemporaryFolder;
let workers: SupervisedWorker[];

beforeEach(() => {
  folder = new TemporaryFolder();
  workers = [];
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop(0)));
  folder[Symbol.dispose]();
});

/** A worker with these commands. `exec` replaces the shell, so that the worker is one process. */
function keep(scripts: { readonly start: string; readonly install?: string }, clock: Clock): SupervisedWorker {
  const path = writeManifest(scripts);
  const worker = new SupervisedWorker(
    { name: 'orders', path, env: {}, config: undefined },
    {
      clock,
      logger: createLogger({ level: 'error', format: 'default', clock, write: () => {} }),
      base: (path) => path,
      environment: () => ({ SVC_TOKEN: 'secret' }),
    },
  );
  workers.push(worker);
  return worker;
}

function writeManifest(scripts: object, name = 'orders'): string {
  const file = join(folder.path, `${name}.yaml`);
  writeFileSync(file, `name: ${name}\nruntime: {kind: shell}\nscripts: ${JSON.stringify(scripts)}\n`);
  return file;
}

/** Ignores SIGTERM and runs until it is killed. */
const STUBBORN = `trap '' TERM; echo up; exec sleep 60`;

const textsOf = (worker: SupervisedWorker) => worker.output.read({ limit: 100 }).lines.map(({ text }) => text);

test('[R6] A start, a stop and another start at once start one process', async () => {
  const worker = keep({ start: 'exec sleep 60' }, systemClock);
  const first = worker.start();
  const stopped = worker.stop(0);
  const second = worker.start();
  await Promise.all([first, stopped, second]);
  expect(textsOf(worker)).toEqual(['starting: exec sleep 60']);
});

test('[PD-24] The worker gets the token of the engine, its install script does not', async () => {
  const printToken = 'echo "token: $SVC_TOKEN"';
  const worker = keep({ install: printToken, start: `${printToken}; exec sleep 60` }, systemClock);
  await worker.start();
  await waitFor('the worker is up', () => textsOf(worker).includes('token: secret'));
  expect(textsOf(worker).filter((text) => text.startsWith('token:'))).toEqual(['token: ', 'token: secret']);
});

test('[R6] A restart that fails is repeated later', async () => {
  const clock = new FakeClock();
  const worker = keep({ start: 'exit 3' }, clock);
  await worker.start();
  await waitFor('the worker has ended', () => worker.state === 'waiting_to_restart');
  writeManifest({ start: 7 });
  clock.advance(500);
  await waitFor('the restart has failed', () => worker.problem?.includes('orders.yaml'));
  expect(worker.state).toBe('waiting_to_restart');
  writeManifest({ start: 'exec sleep 60' });
  clock.advance(1_000);
  await waitFor('the worker runs', () => worker.state === 'running');
});

test('[R6] A first start that fails is repeated after twice the wait each time, until it succeeds', async () => {
  const clock = new FakeClock();
  const worker = keep({ install: 'echo no network; exit 7', start: 'exec sleep 60' }, clock);
  await expect(worker.start()).rejects.toThrow('ended with exit code 7');
  expect(worker.state).toBe('waiting_to_restart');
  expect(textsOf(worker).at(-1)).toBe('could not be started; next attempt in 0.5 s');
  clock.advance(500);
  await waitFor(
    'the start has failed again',
    () => textsOf(worker).at(-1) === 'could not be started; next attempt in 1 s',
  );
  expect(worker.isMissing).toBe(true);
  writeManifest({ start: 'exec sleep 60' });
  clock.advance(1_000);
  await waitFor('the worker runs', () => worker.state === 'running');
  expect(worker.isMissing).toBe(false);
});

test('[R6] A first start that fails ten times is not repeated, and the log names the command that starts it', async () => {
  const clock = new FakeClock();
  const worker = keep({ start: 'exec sleep 60' }, clock);
  writeManifest({ start: 7 });
  await expect(worker.start()).rejects.toThrow('orders.yaml');
  for (let waitMs = 500; worker.state === 'waiting_to_restart'; waitMs = Math.min(waitMs * 2, 30_000)) {
    clock.advance(waitMs);
    await waitFor(
      'the start has failed again',
      () => worker.state === 'waiting_to_restart' || worker.state === 'crash_loop',
    );
  }
  expect(textsOf(worker).at(-1)).toContain(
    'tenth time within five minutes; when it is fixed, run: svc worker start orders',
  );
  expect(worker.describe().restarts).toBe(9);
});

test('Health is degraded while a configured worker could not be started', async () => {
  const engine = new EngineInMemory();
  const context = engine.moduleContext();
  const orders = { name: 'orders', path: folder.path, env: {}, config: 1 };
  const module = projectWorkersModule.create(
    { ...context, configuration: { ...context.configuration, projectWorkers: [orders] } },
    {},
  );
  await module.start();
  module.started?.();
  const health = await waitFor('health is degraded', () => {
    const found = module.health();
    return found.status === 'degraded' && found;
  });
  expect(health.details).toEqual({ workers: 1, reason: 'These workers could not be started: orders' });
  engine.stop();
});

describe('a worker that a reload changes', () => {
  let engine: EngineInMemory;
  let supervisor: Supervisor;
  let orders: ProjectWorker;
  let first: SupervisedWorker;

  /** The worker of that name; `afterEach` stops it. */
  const found = (name: string): SupervisedWorker => {
    const worker = supervisor.find(name);
    if (worker === undefined) throw new Error(`There is no worker ${name}`);
    workers.push(worker);
    return worker;
  };

  beforeEach(async () => {
    engine = new EngineInMemory();
    supervisor = new Supervisor(engine.moduleContext());
    orders = { name: 'orders', path: writeManifest({ start: STUBBORN }), env: {}, config: 1 };
    supervisor.follow([orders]);
    first = found('orders');
    await waitFor('the first is up', () => textsOf(first).includes('up'));
    supervisor.follow([{ ...orders, config: 2 }]);
  });

  afterEach(() => engine.stop());

  test('[R6] starts with the last configuration when its first process has ended', async () => {
    const mail = { name: 'mail', path: writeManifest({ start: STUBBORN }, 'mail'), env: {}, config: 1 };
    supervisor.follow([{ ...orders, config: 3 }, mail]);
    const [last, other] = [found('orders'), found('mail')];
    await waitFor('the other worker is up', () => textsOf(other).includes('up'));
    expect(textsOf(last)).toEqual([]);
    await first.stop(0);
    await waitFor('the changed worker is up', () => textsOf(last).includes('up'));
  });

  test('[R6] is not started when the engine stops before its first process has ended', async () => {
    const second = found('orders');
    supervisor.stop();
    engine.advance(2_000);
    await supervisor.close();
    expect(textsOf(first)).toContain('ended: signal SIGKILL');
    expect(textsOf(second)).toEqual([]);
  });
});
