// `worker::add`, `remove`, `start`, `stop`, `restart`, `list`, `status`, `logs` (modules 18, PD-30).

import { dirname, isAbsolute, relative } from 'node:path';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import type { NewEntry } from '../../core/workers/worker-manifest.ts';
import {
  validateAddWorker,
  validateNameWorker,
  validateReadLogs,
  validateStopWorker,
} from '../../generated/module-payloads.ts';
import { assertTrusted, type BuiltinDefinition } from '../../router/builtin.ts';
import type { ModuleContext } from '../module.ts';
import type { AddWorker } from './payloads.ts';
import { readProject } from './project.ts';
import type { SupervisedWorker } from './supervised-worker.ts';
import { DRAIN_MS_DEFAULT, type Supervisor } from './supervisor.ts';
import { untilRegistered } from './waiting.ts';

const LINES_DEFAULT = 100;
/** Lines of the output that a failure quotes. */
const FAILURE_LINES = 30;
/** A start returns without waiting unless the caller asks for it. */
const WAIT_MS_DEFAULT = 0;

export function workerFunctions(context: ModuleContext, supervisor: Supervisor): BuiltinDefinition[] {
  const parts: Parts = { context, supervisor };
  return [
    define(parts, 'add', 'Adds a worker or a module to the configuration file and starts it', add),
    define(parts, 'remove', 'Stops a worker or a module and takes it out of the configuration file', remove),
    define(parts, 'start', 'Starts a worker of the configuration', start),
    define(parts, 'stop', 'Lets a worker finish and stops it', stop),
    define(parts, 'restart', 'Stops a worker and starts it again', restart),
    define(parts, 'list', 'Lists the workers of the configuration', list),
    define(parts, 'status', 'Describes one worker of the configuration', status),
    define(parts, 'logs', 'The last lines that a worker wrote', logs),
  ];
}

interface Parts {
  readonly context: ModuleContext;
  readonly supervisor: Supervisor;
}

type Verb = (parts: Parts, id: string, payload: unknown) => unknown;

/** Not for restricted connections, whatever their rules say: these are programs on the engine's own machine. */
function define(parts: Parts, verb: string, description: string, run: Verb): BuiltinDefinition {
  const id = `worker::${verb}`;
  return {
    id,
    description,
    handle(payload, call) {
      assertTrusted(id, call);
      return run(parts, id, payload);
    },
  };
}

async function add(parts: Parts, id: string, payload: unknown) {
  const order = checkTimes(readPayload(id, validateAddWorker, payload));
  const { configuration } = parts.context;
  const entry = await entryFor(parts, order);
  if (order.dry_run === true) return { added: false, entry, file: configuration.file ?? null };
  await configuration.addEntry(entry);
  const answer = { added: true, entry, file: configuration.file ?? null };
  const worker = parts.supervisor.find(entry.name);
  if (worker === undefined) return answer;
  return { ...answer, ...(await awaitWorker(parts, worker, order.wait_ms)) };
}

async function entryFor({ context, supervisor }: Parts, { source, config }: AddWorker): Promise<NewEntry> {
  const { configuration, modulesHealth } = context;
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

async function remove(parts: Parts, id: string, payload: unknown) {
  const { name, drain_ms: drainMs = DRAIN_MS_DEFAULT } = checkTimes(readPayload(id, validateStopWorker, payload));
  await parts.supervisor.find(name)?.stop(drainMs);
  if (await parts.context.configuration.removeEntry(name)) return { removed: true, name };
  throw unknownWorker(parts, name);
}

async function start(parts: Parts, id: string, payload: unknown) {
  const { name, wait_ms: waitMs } = checkTimes(readPayload(id, validateNameWorker, payload));
  const worker = find(parts, name);
  await begin(worker);
  return await awaitWorker(parts, worker, waitMs);
}

async function stop(parts: Parts, id: string, payload: unknown) {
  const { name, drain_ms: drainMs = DRAIN_MS_DEFAULT } = checkTimes(readPayload(id, validateStopWorker, payload));
  const worker = find(parts, name);
  await worker.stop(drainMs);
  return facts(parts, worker);
}

async function restart(parts: Parts, id: string, payload: unknown) {
  const order = checkTimes(readPayload(id, validateStopWorker, payload));
  const worker = find(parts, order.name);
  await worker.stop(order.drain_ms ?? DRAIN_MS_DEFAULT);
  await begin(worker);
  return await awaitWorker(parts, worker, order.wait_ms);
}

function list(parts: Parts) {
  return { workers: parts.supervisor.all().map((worker) => facts(parts, worker)) };
}

function status(parts: Parts, id: string, payload: unknown) {
  const { name } = readPayload(id, validateNameWorker, payload);
  return facts(parts, find(parts, name));
}

function logs(parts: Parts, id: string, payload: unknown) {
  const { name, after, since, limit = LINES_DEFAULT } = readPayload(id, validateReadLogs, payload);
  if (!Number.isInteger(limit) || limit < 1) {
    throw new Refusal('BAD_REQUEST', `limit must be a whole number from 1, found ${limit}`);
  }
  const { lines, dropped } = find(parts, name).output.read({
    limit,
    ...(after !== undefined && { afterSeq: after }),
    ...(since !== undefined && { sinceMs: since }),
  });
  return { name, lines, dropped };
}

const WAIT_MS_MAX = 3_600_000;

function checkTimes<T extends { wait_ms?: number; drain_ms?: number }>(order: T): T {
  for (const key of ['wait_ms', 'drain_ms'] as const) {
    const value = order[key] ?? 0;
    if (value >= 0 && value <= WAIT_MS_MAX) continue;
    throw new Refusal('BAD_REQUEST', `${key} must be from 0 to ${WAIT_MS_MAX} milliseconds, found ${value}`);
  }
  return order;
}

async function begin(worker: SupervisedWorker): Promise<void> {
  await worker.start().catch((error: Error) => {
    throw failed(worker, error.message);
  });
}

async function awaitWorker(parts: Parts, worker: SupervisedWorker, waitMs = WAIT_MS_DEFAULT) {
  if (waitMs > 0) {
    const readiness = await untilRegistered(
      { clock: parts.context.clock, supervisor: parts.supervisor },
      worker,
      waitMs,
    );
    if (readiness === 'failed') throw failed(worker, worker.problem ?? 'it ended');
    if (readiness === 'late') {
      throw new Refusal('TIMEOUT', `The worker ${worker.entry.name} runs and has registered nothing in ${waitMs} ms`);
    }
  }
  return facts(parts, worker);
}

function failed(worker: SupervisedWorker, reason: string): Refusal {
  const { lines } = worker.output.read({ limit: FAILURE_LINES, afterSeq: worker.launchedAfterLine });
  const output = lines.map(({ text }) => `  ${text}`).join('\n');
  return new Refusal('WORKER_FAILED', `The worker ${worker.entry.name} does not run: ${reason}\n${output}`);
}

function facts({ supervisor }: Parts, worker: SupervisedWorker) {
  return { ...worker.facts(), functions: supervisor.functionsOf(worker.entry.name) };
}

function find(parts: Parts, name: string): SupervisedWorker {
  const worker = parts.supervisor.find(name);
  if (worker === undefined) throw unknownWorker(parts, name);
  return worker;
}

function unknownWorker({ context, supervisor }: Parts, name: string): Refusal {
  if (context.router.workers().some(({ profile }) => profile?.name === name)) {
    const message = `The worker ${name} is connected, but the engine did not start it: it is not in the configuration.`;
    return new Refusal('NOT_FOUND', `${message} The process that started the worker supervises it.`);
  }
  const known = supervisor.all().map(({ entry }) => entry.name);
  const list = known.length === 0 ? 'It has none with a path.' : `It has: ${known.join(', ')}.`;
  return new Refusal('NOT_FOUND', `The configuration has no worker named ${name}. ${list}`);
}
