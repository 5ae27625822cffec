// `svc worker start`, `stop`, `restart` and `remove`: what the engine does with a worker of its configuration.

import { withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT, type ExitCode } from '../../kernel/failures.ts';
import { CONFIRM_FLAGS, CONNECTION_FLAGS, type FlagTable, type FlagValues } from '../../kernel/flags.ts';
import { confirm } from '../../text/confirm.ts';
import { isRecord } from '../../text/records.ts';
import { describeWorker } from './worker-info.ts';

const HOUR_MS = 3_600_000;

export const WAIT_FLAGS = {
  wait: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '120s',
    maxMs: HOUR_MS,
    help: 'Time limit to install, start and register.',
  },
  'no-wait': { kind: 'switch', help: 'Do not wait until the worker has registered.' },
} as const satisfies FlagTable;

const DRAIN_FLAGS = {
  drain: {
    kind: 'duration',
    placeholder: '<duration>',
    fallback: '25s',
    maxMs: HOUR_MS,
    help: 'Time for its handlers to finish.',
  },
  force: { kind: 'switch', help: 'Kill it immediately.' },
} as const satisfies FlagTable;

const OPERANDS = {
  usage: '<name>',
  min: 1,
  max: 1,
  help: 'Its name in the configuration.',
  kinds: ['worker'],
} as const;

export const workerStart = defineCommand({
  name: 'worker start',
  summary: 'Start a worker of the configuration.',
  operands: OPERANDS,
  details: [
    'If its dependencies have changed, they are installed first. A worker that the engine gave up after repeated ' +
      'crashes is tried again.',
  ],
  flags: { ...WAIT_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker start orders', shows: 'Starts it and waits until it has registered.' },
    { line: 'svc worker start orders --no-wait', shows: 'Returns when the process runs.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  run: (context) => callAndDescribe(context, 'worker::start', { wait_ms: waitMsOf(context.flags) }),
});

export const workerStop = defineCommand({
  name: 'worker stop',
  summary: 'Let a worker finish its calls and stop it.',
  operands: OPERANDS,
  details: [
    'Handlers get time to finish, then the process is killed. svc worker start or a restart of the engine starts it ' +
      'again.',
  ],
  flags: { ...DRAIN_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker stop orders', shows: 'Gives its handlers 25 seconds.' },
    { line: 'svc worker stop orders --force', shows: 'Kills it immediately.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.unreachable, EXIT.refused],
  run: (context) => callAndDescribe(context, 'worker::stop', { drain_ms: drainMsOf(context.flags) }),
});

export const workerRestart = defineCommand({
  name: 'worker restart',
  summary: 'Stop a worker and start it again.',
  operands: OPERANDS,
  details: ['The old process ends before the new one starts.'],
  flags: { ...WAIT_FLAGS, ...DRAIN_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker restart orders', shows: 'Uses the changed files of its folder.' },
    { line: 'svc worker restart orders --drain 5s', shows: 'Gives its handlers five seconds.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  run: (context) => {
    const times = { drain_ms: drainMsOf(context.flags), wait_ms: waitMsOf(context.flags) };
    return callAndDescribe(context, 'worker::restart', times);
  },
});

export const workerRemove = defineCommand({
  name: 'worker remove',
  summary: 'Stop a worker or module and remove it from the configuration.',
  operands: OPERANDS,
  details: ['The engine changes its configuration file; the folder of the worker stays.'],
  flags: { ...CONFIRM_FLAGS, ...DRAIN_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker remove orders', shows: 'Asks, lets handlers finish, and removes the entry.' },
    { line: 'svc worker remove svc-cron --yes', shows: 'Removes a module without asking.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const name = context.operands[0] ?? '';
    await confirm(context, `Remove ${name} from the configuration of the engine?`);
    const answer = await callSupervisor(context, 'worker::remove', { drain_ms: drainMsOf(context.flags) });
    context.output.printDocument(answer, `Removed ${name}.`);
    return EXIT.done;
  },
});

/** How long the engine may take for a call, in addition to the time for its answer. */
interface CallTimes {
  readonly drain_ms?: number;
  readonly wait_ms?: number;
}

async function callSupervisor(
  context: Context<typeof CONNECTION_FLAGS>,
  functionId: string,
  times: CallTimes,
): Promise<unknown> {
  const { drain_ms: drainMs = 0, wait_ms: waitMs = 0 } = times;
  const payload = { name: context.operands[0] ?? '', ...times };
  const settings = { timeoutMs: drainMs + waitMs + context.flags.timeout };
  return await withEngine(context, (engine) => engine.call(functionId, payload, settings));
}

async function callAndDescribe(
  context: Context<typeof CONNECTION_FLAGS>,
  functionId: string,
  times: CallTimes,
): Promise<ExitCode> {
  const answer = await callSupervisor(context, functionId, times);
  context.output.printDocument(answer, isRecord(answer) ? describeWorker(answer, context.terminal.now()) : '');
  return EXIT.done;
}

export function waitMsOf(flags: FlagValues<typeof WAIT_FLAGS>): number {
  return flags['no-wait'] ? 0 : flags.wait;
}

function drainMsOf(flags: FlagValues<typeof DRAIN_FLAGS>): number {
  return flags.force ? 0 : flags.drain;
}
