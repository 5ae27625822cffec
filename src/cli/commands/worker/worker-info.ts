// `svc worker info`, and how commands describe a worker that the engine keeps running.

import { withEngine } from '../../engine/connection.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { formatPairs, stripUnsafe } from '../../text/display-text.ts';
import { isRecord, type JsonRecord, numberIn, textIn, textsIn } from '../../text/records.ts';
import { formatDuration } from '../../text/times.ts';

export const workerInfo = defineCommand({
  name: 'worker info',
  summary: 'Show a worker that the engine keeps running.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Its name in the configuration.', kinds: ['worker'] },
  details: [
    'Shows the process of the worker and the functions that it has registered. To see workers that the engine did ' +
      'not start, use svc worker list.',
  ],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker info orders', shows: 'State, process, memory, functions.' },
    { line: 'svc worker info orders --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output, terminal } = context;
    const payload = { name: operands[0] ?? '' };
    const answer = await withEngine(context, (engine) => engine.call('worker::status', payload));
    output.printDocument(answer, isRecord(answer) ? describeWorker(answer, terminal.now()) : '');
    return EXIT.done;
  },
});

/** The description of one worker. */
export function describeWorker(worker: JsonRecord, nowMs: number): string {
  const rows: [string, string][] = [
    ['name', textIn(worker, 'name')],
    ['state', stateInWords(worker)],
    ['path', textIn(worker, 'path')],
    ...optional('description', textIn(worker, 'description')),
    ...optional('version', textIn(worker, 'version')),
    ...optional('kind', textIn(worker, 'kind')),
    ...optional('pid', textIn(worker, 'pid')),
    ...optional('uptime', uptimeOf(worker, nowMs)),
    ['restarts', textIn(worker, 'restarts')],
    ...optional('memory', memoryOf(worker)),
    ...optional('cpu time', cpuOf(worker)),
    ['functions', textsIn(worker, 'functions').join(', ') || 'none registered'],
  ];
  return formatPairs(rows.map(([name, text]): [string, string] => [name, stripUnsafe(text)])).join('\n');
}

/** Words for states such as `crash_loop`. */
export function stateInWords(worker: JsonRecord): string {
  const state = textIn(worker, 'state').replaceAll('_', ' ');
  // The first line; the log of the worker has all of them.
  const [end = ''] = textIn(worker, 'last_end').split('\n');
  const isWell = state === 'running' && textsIn(worker, 'functions').length > 0;
  return end === '' || isWell ? state : `${state} (${end})`;
}

function uptimeOf(worker: JsonRecord, nowMs: number): string {
  const startedMs = Date.parse(textIn(worker, 'started_at'));
  return Number.isNaN(startedMs) ? '' : formatDuration(Math.max(0, nowMs - startedMs));
}

function memoryOf(worker: JsonRecord): string {
  const bytes = numberIn(worker, 'rss_bytes');
  return bytes === undefined ? '' : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function cpuOf(worker: JsonRecord): string {
  const ms = numberIn(worker, 'cpu_ms');
  return ms === undefined ? '' : formatDuration(ms);
}

function optional(name: string, text: string): [string, string][] {
  return text === '' ? [] : [[name, text]];
}
