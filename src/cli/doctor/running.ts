// What `svc doctor` asks the running engine: versions, clock, health, and what waits for somebody to look at it.

import { engineVersion } from '../../effects/version.ts';
import { isSvcError } from '../../sdk/errors.ts';
import type { EngineConnection } from '../connection.ts';
import { formatDuration } from '../durations.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn, textsIn } from '../records.ts';
import { quoteForShell } from '../shell-quote.ts';
import type { Terminal } from '../terminal.ts';
import { stateInWords } from '../worker-facts.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const LATENCY_MS_WARN = 100;
const CLOCK_MS_WARN = 2_000;

export async function runningFindings(engine: EngineConnection, terminal: Terminal): Promise<Finding[]> {
  // The first call also pays for what a connection sets up.
  await engine.call('engine::health::check', {});
  const startedMs = terminal.elapsedMs();
  const health = await engine.call('engine::health::check', {});
  const tookMs = terminal.elapsedMs() - startedMs;
  const facts = isRecord(health) ? health : {};
  const differenceMs = Math.abs((numberIn(facts, 'timestamp') ?? terminal.now()) - terminal.now());
  return [
    latencyFinding(engine.address, tookMs),
    clockFinding(differenceMs),
    ...healthFindings(facts),
    ...(await workerFindings(engine, textIn(facts, 'version'))),
    ...(await projectFindings(engine)),
    ...(await triggerFindings(engine)),
    ...(await deadLetterFindings(engine)),
  ];
}

function latencyFinding(address: string, tookMs: number): Finding {
  const text = `${address} answers in ${formatDuration(tookMs)}`;
  if (tookMs < LATENCY_MS_WARN) return ok('engine', text);
  return warn('engine', text, 'See svc top for what keeps it busy, and the network between.');
}

function clockFinding(differenceMs: number): Finding {
  const text = `differs from the engine's by ${formatDuration(differenceMs)}`;
  if (differenceMs < CLOCK_MS_WARN) return ok('clock', text);
  return warn('clock', text, 'Let both machines follow a time server.');
}

function healthFindings(health: JsonRecord): Finding[] {
  const components = isRecord(health.components) ? health.components : {};
  const modules = isRecord(components.modules) ? components.modules : {};
  return Object.entries(modules).map(([name, module]) => {
    const facts = isRecord(module) ? module : {};
    const details = isRecord(facts.details) ? facts.details : {};
    const adapter = textIn(facts, 'adapter') || textIn(details, 'adapter');
    const text = `${textIn(facts, 'status') || 'of unknown health'}${adapter === '' ? '' : `, adapter ${adapter}`}`;
    const reason = textIn(details, 'reason');
    if (text.startsWith('healthy')) return ok(name, text);
    const isDown = text.startsWith('unhealthy');
    return (isDown ? fail : warn)(name, reason === '' ? text : `${text}: ${reason}`, 'See the log of the engine.');
  });
}

/** It shows what others offer. */
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
      ? ok('versions', `engine, command line and SDKs are ${own}`)
      : warn('versions', `differ: ${[...versions].join(', ')}`, 'svc version says which is where; update the others.'),
    names.length === 0
      ? ok('workers', `${workers.length} connected`)
      : warn('workers', `without functions: ${names.join(', ')}`, 'See svc worker logs <name>.'),
  ];
}

/** Those that the engine starts again: their functions are away meanwhile, and nothing else tells of them. */
async function projectFindings(engine: EngineConnection): Promise<Finding[]> {
  const answer = await engine.call('worker::list', {}).catch((error: unknown) => {
    // Programs of the engine's machine are none of a restricted connection's business.
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

/** Also one that is just being tried again: it has ended before, and offers nothing yet. */
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
      'svc triggers list shows it; correct its config where it is registered.',
    ),
  );
}

async function deadLetterFindings(engine: EngineConnection): Promise<Finding[]> {
  const answer = await engine.call('engine::queue::dlq_topics', {}).catch((error) => {
    // An engine without its queue module.
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
