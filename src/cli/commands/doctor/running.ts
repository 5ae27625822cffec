// The checks of `svc doctor` for the running engine: versions, clock, health, and problems that need attention.

import { engineVersion } from '../../../effects/version.ts';
import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn, textsIn } from '../../text/records.ts';
import { quoteForShell } from '../../text/shell.ts';
import type { Terminal } from '../../text/terminal.ts';
import { formatDuration } from '../../text/times.ts';
import { stateInWords } from '../worker/worker-info.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const LATENCY_MS_WARN = 100;
const CLOCK_MS_WARN = 2_000;

export async function runningFindings(engine: EngineConnection, terminal: Terminal): Promise<Finding[]> {
  // The first call includes the setup of the connection.
  await engine.call('engine::health::check', {});
  const startedMs = terminal.elapsedMs();
  const health = await engine.call('engine::health::check', {});
  const tookMs = terminal.elapsedMs() - startedMs;
  const engineHealth = isRecord(health) ? health : {};
  const differenceMs = Math.abs((numberIn(engineHealth, 'timestamp') ?? terminal.now()) - terminal.now());
  return [
    latencyFinding(engine.address, tookMs),
    clockFinding(differenceMs),
    ...healthFindings(engineHealth),
    ...(await workerFindings(engine, textIn(engineHealth, 'version'))),
    ...(await projectFindings(engine)),
    ...(await triggerFindings(engine)),
    ...(await deadLetterFindings(engine)),
  ];
}

function latencyFinding(address: string, tookMs: number): Finding {
  const text = `${address} answers in ${formatDuration(tookMs)}`;
  if (tookMs < LATENCY_MS_WARN) return ok('engine', text);
  return warn('engine', text, 'Check its load with svc top, and check the network.');
}

function clockFinding(differenceMs: number): Finding {
  const text = `differs from the engine's by ${formatDuration(differenceMs)}`;
  if (differenceMs < CLOCK_MS_WARN) return ok('clock', text);
  return warn('clock', text, 'Synchronise both machines with a time server.');
}

function healthFindings(health: JsonRecord): Finding[] {
  const components = isRecord(health.components) ? health.components : {};
  const modules = isRecord(components.modules) ? components.modules : {};
  return Object.entries(modules).map(([name, module]) => {
    const state = isRecord(module) ? module : {};
    const details = isRecord(state.details) ? state.details : {};
    const adapter = textIn(state, 'adapter') || textIn(details, 'adapter');
    const text = `${textIn(state, 'status') || 'of unknown health'}${adapter === '' ? '' : `, adapter ${adapter}`}`;
    const reason = textIn(details, 'reason') || textIn(details, 'trouble');
    if (text.startsWith('healthy')) return ok(name, text);
    const isDown = text.startsWith('unhealthy');
    return (isDown ? fail : warn)(name, reason === '' ? text : `${text}: ${reason}`, 'See the log of the engine.');
  });
}

/** The console registers no functions of its own. */
const CONSOLE = 'svc-console';

async function workerFindings(engine: EngineConnection, version: string): Promise<Finding[]> {
  const all = recordsIn(await engine.call('engine::workers::list', {}), 'workers');
  const workers = all.filter((worker) => worker.internal !== true && textIn(worker, 'status') !== 'disconnected');
  const own = engineVersion();
  const versions = new Set([own, version, ...workers.map((worker) => textIn(worker, 'version'))]);
  versions.delete('');
  const idle = workers.filter(
    (worker) => textIn(worker, 'name') !== CONSOLE && worker.functions !== undefined && countOf(worker.functions) === 0,
  );
  const names = idle.map((worker) => textIn(worker, 'name') || textIn(worker, 'id'));
  return [
    versions.size === 1
      ? ok('versions', `engine, command line and SDKs are version ${own}`)
      : warn(
          'versions',
          `differ: ${[...versions].join(', ')}`,
          'List them with svc version, and update the older ones.',
        ),
    names.length === 0
      ? ok('workers', `${workers.length} connected`)
      : warn('workers', `without functions: ${names.join(', ')}`, 'See svc worker logs <name>.'),
  ];
}

/** Workers that the engine restarts: their functions are missing meanwhile, and no other check reports them. */
async function projectFindings(engine: EngineConnection): Promise<Finding[]> {
  const answer = await engine.call('worker::list', {}).catch((error: unknown) => {
    // A restricted connection may not see the programs of the engine's machine.
    if (isSvcError(error) && error.code === 'FORBIDDEN') return undefined;
    throw error;
  });
  return recordsIn(answer, 'workers')
    .filter(isInTrouble)
    .map((worker) => {
      const name = textIn(worker, 'name');
      return warn(`worker ${name}`, stateInWords(worker), `See svc worker logs ${quoteForShell(name)}.`);
    });
}

/** Also true during a retry: the worker has crashed before and offers nothing yet. */
function isInTrouble(worker: JsonRecord): boolean {
  const state = textIn(worker, 'state');
  const isTriedAgain = (numberIn(worker, 'restarts') ?? 0) > 0 && textsIn(worker, 'functions').length === 0;
  return FAILED.includes(state) || (TRYING.includes(state) && isTriedAgain);
}

const FAILED = ['waiting_to_restart', 'crash_loop'];
const TRYING = ['installing', 'starting', 'running'];

function countOf(functions: unknown): number {
  return Array.isArray(functions) ? functions.length : Number(functions);
}

async function triggerFindings(engine: EngineConnection): Promise<Finding[]> {
  const answer = await engine.call('engine::registered-triggers::list', {});
  const triggers = recordsIn(answer, 'registered_triggers');
  const wrong = triggers.filter((trigger) => textIn(trigger, 'status') === 'Error');
  if (wrong.length === 0) return [ok('triggers', `${triggers.length} bound, none in error`)];
  return wrong.map((trigger) =>
    fail(
      'triggers',
      `${textIn(trigger, 'id')} (${textIn(trigger, 'trigger_type')}) is in error: ${textIn(trigger, 'error')}`,
      'See svc triggers list, and correct its config in the worker that registers it.',
    ),
  );
}

async function deadLetterFindings(engine: EngineConnection): Promise<Finding[]> {
  const answer = await engine.call('engine::queue::dlq_topics', {}).catch((error) => {
    // An engine without the queue module.
    if (isSvcError(error, 'function_not_found')) return [];
    throw error;
  });
  const dead = (Array.isArray(answer) ? answer.filter(isRecord) : [])
    .map((row) => ({ queue: textIn(row, 'topic') || textIn(row, 'name'), count: numberIn(row, 'message_count') ?? 0 }))
    .filter(({ count }) => count > 0);
  if (dead.length === 0) return [ok('dead letters', 'none')];
  return dead.map(({ queue, count }) =>
    warn('dead letters', `${count} in ${queue}`, `svc queue dlq list ${queue} --group-by error`),
  );
}
