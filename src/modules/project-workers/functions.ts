// `worker::add`, `remove`, `start`, `stop`, `restart`, `list`, `status`, `logs` (modules 18, PD-30).

import { dirname, isAbsolute, relative } from 'node:path';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import type { NewEntry } from '../../core/workers/worker-manifest.ts';
import type { Clock } from '../../effects/clock.ts';
import {
  validateAddWorker,
  validateNameWorker,
  validateReadLogs,
  validateStopWorker,
} from '../../generated/module-payloads.ts';
import { assertTrusted, type BuiltinDefinition } from '../../router/builtin.ts';
import type { ModuleContext } from '../module.ts';
import type { ProjectWorkerAnswers, WorkerStatus } from './answers.ts';
import type { AddWorker } from './payloads.ts';
import { readProject } from './project.ts';
import type { SupervisedWorker } from './supervised-worker.ts';
import { DRAIN_MS_DEFAULT, type Supervisor } from './supervisor.ts';

const LINES_DEFAULT = 100;
/** Lines of the output that a failure quotes. */
const FAILURE_LINES = 30;
/** A start returns without waiting unless the caller asks for it. */
const WAIT_MS_DEFAULT = 0;

export function workerFunctions(module: ModuleContext, supervisor: Supervisor): BuiltinDefinition[] {
  const context: FunctionContext = { module, supervisor };
  return [
    define(context, 'add', 'Adds a worker or a module to the configuration file and starts it', add),
    define(context, 'remove', 'Stops a worker or a module and takes it out of the configuration file', remove),
    define(context, 'start', 'Starts a worker of the configuration', start),
    define(context, 'stop', 'Lets a worker finish and stops it', stop),
    define(context, 'restart', 'Stops a worker and starts it again', restart),
    define(context, 'list', 'Lists the workers of the configuration', list),
    define(context, 'status', 'Describes one worker of the configuration', status),
    define(context, 'logs', 'The last lines that a worker wrote', logs),
  ];
}

interface FunctionContext {
  readonly module: ModuleContext;
  readonly supervisor: Supervisor;
}

type Answers = ProjectWorkerAnswers;
type Verb = (context: FunctionContext, id: string, payload: unknown) => unknown;

/** Not for restricted connections, whatever their rules say: these are programs on the engine's own machine. */
function define(context: FunctionContext, verb: string, description: string, run: Verb): BuiltinDefinition {
  const id = `worker::${verb}`;
  return {
    id,
    description,
    handle(payload, call) {
      assertTrusted(id, call);
      return run(context, id, payload);
    },
  };
}

async function add(context: FunctionContext, id: string, payload: unknown): Promise<Answers['worker::add']> {
  const request = checkTimes(readPayload(id, validateAddWorker, payload));
  const { configuration } = context.module;
  const entry = await entryFor(context, request);
  if (request.dry_run === true) return { added: false, entry, file: configuration.file ?? null };
  await configuration.addEntry(entry);
  const answer = { added: true, entry, file: configuration.file ?? null };
  const worker = context.supervisor.find(entry.name);
  if (worker === undefined) return answer;
  return { ...answer, ...(await awaitWorker(context, worker, request.wait_ms)) };
}

async function entryFor({ module, supervisor }: FunctionContext, { source, config }: AddWorker): Promise<NewEntry> {
  const { configuration, modulesHealth } = module;
  const given = config === undefined ? {} : { config };
  if (source.kind === 'builtin') {
    const running = modulesHealth();
    const known = [source.name, `svc-${source.name}`].find((name) => Object.hasOwn(running, name));
    if (known !== undefined) throw new Refusal('CONFLICT', `The module ${known} is already running`);
    return { name: source.name, ...given };
  }
  if (!isAbsolute(source.path))
    throw new Refusal('BAD_REQUEST', `source.path must be absolute, found '${source.path}'`);
  const project = await readProject(source.path).catch((error: Error) => {
    throw new Refusal('BAD_REQUEST', error.message);
  });
  const { name } = project.manifest;
  if (supervisor.find(name) !== undefined) {
    throw new Refusal('CONFLICT', `A worker named ${name} is in the configuration already`);
  }
  const folder = configuration.file === undefined ? undefined : dirname(configuration.file);
  const below = folder === undefined ? project.folder : relative(folder, project.folder);
  // A path inside the folder of the file is written as relative to it; others are absolute.
  const path = below.startsWith('..') || isAbsolute(below) ? project.folder : `./${below}`;
  return { name, path, ...given };
}

async function remove(context: FunctionContext, id: string, payload: unknown): Promise<Answers['worker::remove']> {
  const { name, drain_ms: drainMs = DRAIN_MS_DEFAULT } = checkTimes(readPayload(id, validateStopWorker, payload));
  await context.supervisor.find(name)?.stop(drainMs);
  if (await context.module.configuration.removeEntry(name)) return { removed: true, name };
  throw unknownWorker(context, name);
}

async function start(context: FunctionContext, id: string, payload: unknown): Promise<WorkerStatus> {
  const { name, wait_ms: waitMs } = checkTimes(readPayload(id, validateNameWorker, payload));
  const worker = find(context, name);
  await begin(worker);
  return await awaitWorker(context, worker, waitMs);
}

async function stop(context: FunctionContext, id: string, payload: unknown): Promise<WorkerStatus> {
  const { name, drain_ms: drainMs = DRAIN_MS_DEFAULT } = checkTimes(readPayload(id, validateStopWorker, payload));
  const worker = find(context, name);
  await worker.stop(drainMs);
  return describe(context, worker);
}

async function restart(context: FunctionContext, id: string, payload: unknown): Promise<WorkerStatus> {
  const request = checkTimes(readPayload(id, validateStopWorker, payload));
  const worker = find(context, request.name);
  await worker.stop(request.drain_ms ?? DRAIN_MS_DEFAULT);
  await begin(worker);
  return await awaitWorker(context, worker, request.wait_ms);
}

function list(context: FunctionContext): Answers['worker::list'] {
  return { workers: context.supervisor.all().map((worker) => describe(context, worker)) };
}

function status(context: FunctionContext, id: string, payload: unknown): WorkerStatus {
  const { name } = readPayload(id, validateNameWorker, payload);
  return describe(context, find(context, name));
}

function logs(context: FunctionContext, id: string, payload: unknown): Answers['worker::logs'] {
  const { name, after, since, limit = LINES_DEFAULT } = readPayload(id, validateReadLogs, payload);
  if (!Number.isInteger(limit) || limit < 1) {
    throw new Refusal('BAD_REQUEST', `limit must be a whole number from 1, found ${limit}`);
  }
  const { lines, dropped } = find(context, name).output.read({
    limit,
    ...(after !== undefined && { afterSeq: after }),
    ...(since !== undefined && { sinceMs: since }),
  });
  return { name, lines, dropped };
}

const WAIT_MS_MAX = 3_600_000;

function checkTimes<T extends { wait_ms?: number; drain_ms?: number }>(request: T): T {
  for (const key of ['wait_ms', 'drain_ms'] as const) {
    const value = request[key] ?? 0;
    if (value >= 0 && value <= WAIT_MS_MAX) continue;
    throw new Refusal('BAD_REQUEST', `${key} must be from 0 to ${WAIT_MS_MAX} milliseconds, found ${value}`);
  }
  return request;
}

async function begin(worker: SupervisedWorker): Promise<void> {
  await worker.start().catch((error: Error) => {
    throw failed(worker, error.message);
  });
}

async function awaitWorker(
  context: FunctionContext,
  worker: SupervisedWorker,
  waitMs = WAIT_MS_DEFAULT,
): Promise<WorkerStatus> {
  if (waitMs > 0) {
    const readiness = await untilRegistered(
      { clock: context.module.clock, supervisor: context.supervisor },
      worker,
      waitMs,
    );
    if (readiness === 'failed') throw failed(worker, worker.problem ?? 'it ended');
    if (readiness === 'late') {
      throw new Refusal('TIMEOUT', `The worker ${worker.entry.name} runs and has registered nothing in ${waitMs} ms`);
    }
  }
  return describe(context, worker);
}

function failed(worker: SupervisedWorker, reason: string): Refusal {
  const { lines } = worker.output.read({ limit: FAILURE_LINES, afterSeq: worker.launchedAfterLine });
  const output = lines.map(({ text }) => `  ${text}`).join('\n');
  return new Refusal('WORKER_FAILED', `The worker ${worker.entry.name} does not run: ${reason}\n${output}`);
}

function describe({ supervisor }: FunctionContext, worker: SupervisedWorker): WorkerStatus {
  return { ...worker.describe(), functions: supervisor.functionsOf(worker.entry.name) };
}

function find(context: FunctionContext, name: string): SupervisedWorker {
  const worker = context.supervisor.find(name);
  if (worker === undefined) throw unknownWorker(context, name);
  return worker;
}

function unknownWorker({ module, supervisor }: FunctionContext, name: string): Refusal {
  if (module.router.workers().some(({ profile }) => profile?.name === name)) {
    const message = `The worker ${name} is connected, but the engine did not start it: it is not in the configuration.`;
    return new Refusal('NOT_FOUND', `${message} The process that started the worker supervises it.`);
  }
  const known = supervisor.all().map(({ entry }) => entry.name);
  const list = known.length === 0 ? 'It has none with a path.' : `It has: ${known.join(', ')}.`;
  return new Refusal('NOT_FOUND', `The configuration has no worker named ${name}. ${list}`);
}

const LOOK_INTERVAL_MS = 50;

type Readiness = 'registered' | 'failed' | 'late';

/** Waits until the worker has registered its functions, has failed, or the time is up. */
function untilRegistered(
  { clock, supervisor }: { clock: Clock; supervisor: Supervisor },
  worker: SupervisedWorker,
  waitMs: number,
): Promise<Readiness> {
  const endMs = clock.monotonicMs() + waitMs;
  const judge = (): Readiness | undefined => {
    if (supervisor.functionsOf(worker.entry.name).length > 0) return 'registered';
    if (FAILED.includes(worker.state)) return 'failed';
    return clock.monotonicMs() >= endMs ? 'late' : undefined;
  };
  return new Promise((resolve) => {
    const look = (): void => {
      const readiness = judge();
      if (readiness === undefined) return;
      cancel();
      resolve(readiness);
    };
    const cancel = clock.every(LOOK_INTERVAL_MS, look);
    clock.afterTurn(look);
  });
}

/** A worker that ended once is retried, but its author wants to see the cause of the first end. */
const FAILED: readonly string[] = ['stopped', 'waiting_to_restart', 'crash_loop'];
