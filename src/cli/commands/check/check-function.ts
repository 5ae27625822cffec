// The checks of one function, one worker or one trigger.

import { isSvcError } from '../../../sdk/calls/errors.ts';
import { defineCommand } from '../../kernel/command.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { isRecord, type JsonRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import { formatDuration } from '../../text/times.ts';
import {
  countThreshold,
  durationThreshold,
  type Finding,
  judge,
  type Measure,
  MONITOR_FORMATS,
  monitor,
} from './monitor.ts';

export const checkFunction = defineCommand({
  name: 'check function',
  summary: 'Check that a function can be called, its errors and its durations.',
  operands: { usage: '<id>', min: 1, max: 1, help: 'The id of the function.' },
  details: ['Calls, errors and the 95th percentile are those within --window. The function is not called.'],
  flags: {
    'min-workers': { ...countThreshold('Critical when fewer workers offer it.'), fallback: '1' },
    window: {
      kind: 'duration',
      placeholder: '<duration>',
      fallback: '5m',
      maxMs: 7 * 24 * 3_600_000,
      help: 'How far back calls count.',
    },
    'p95-warn': durationThreshold('Warning when the 95th percentile of its calls takes this long.'),
    'p95-critical': durationThreshold('Critical when the 95th percentile of its calls takes this long.'),
    'errors-warn': countThreshold('Warning when this percentage of its calls failed.'),
    'errors-critical': countThreshold('Critical when this percentage of its calls failed.'),
    ...CONNECTION_FLAGS,
  },
  formats: MONITOR_FORMATS,
  examples: [
    { line: 'svc check function orders::create --min-workers 2', shows: 'Critical when only one worker offers it.' },
    { line: 'svc check function orders::create --errors-warn 5 --p95-warn 200ms', shows: 'With errors and durations.' },
  ],
  monitors: true,
  async run(context) {
    const { flags, operands, terminal } = context;
    const [functionId = ''] = operands;
    return await monitor(context, { kind: 'function', subject: functionId }, async (engine) => {
      const detail = await engine.call('engine::functions::info', { function_id: functionId }).catch((error) => {
        if (isSvcError(error, 'NOT_FOUND')) return undefined;
        throw error;
      });
      if (detail === undefined) return judge([NOT_OFFERED], [], '');
      const nowMs = terminal.now();
      const asked = { start_time: nowMs - flags.window, end_time: nowMs, function_id: functionId };
      const answer = await engine.call('engine::metrics::calls', asked);
      const [row = {}] = recordsIn(answer, 'functions');
      const [calls, errors] = [numberIn(row, 'calls') ?? 0, numberIn(row, 'errors') ?? 0];
      const p95 = numberIn(row, 'p95_ms');
      const measures: Measure[] = [
        { name: 'workers', value: recordsIn(detail, 'workers').length, unit: 'count', atLeast: flags['min-workers'] },
        {
          name: 'errors_percent',
          value: calls === 0 ? 0 : (errors / calls) * 100,
          unit: 'count',
          warn: flags['errors-warn'],
          critical: flags['errors-critical'],
        },
      ];
      if (p95 !== undefined) {
        measures.push({
          name: 'p95',
          value: p95,
          unit: 'ms',
          warn: flags['p95-warn'],
          critical: flags['p95-critical'],
        });
      }
      return judge([], measures, `can be called, ${calls} calls in ${formatDuration(flags.window)}`);
    });
  },
});

const NOT_OFFERED: Finding = { level: 'critical', text: 'no connected worker offers it' };

export const checkWorker = defineCommand({
  name: 'check worker',
  summary: 'Check that enough workers with a name are connected.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'The name with which the worker connects.' },
  flags: {
    'min-workers': { ...countThreshold('Critical when fewer are connected.'), fallback: '1' },
    'in-flight-warn': countThreshold('Warning when together they run this many calls.'),
    'in-flight-critical': countThreshold('Critical when together they run this many calls.'),
    ...CONNECTION_FLAGS,
  },
  formats: MONITOR_FORMATS,
  examples: [
    { line: 'svc check worker billing --min-workers 2', shows: 'Critical when only one is left.' },
    { line: 'svc check worker billing --in-flight-warn 500 -o json', shows: 'The same for a script.' },
  ],
  monitors: true,
  async run(context) {
    const { flags, operands } = context;
    const [name = ''] = operands;
    return await monitor(context, { kind: 'worker', subject: name }, async (engine) => {
      const answer = await engine.call('engine::workers::list', { search: name });
      const workers = recordsIn(answer, 'workers').filter(
        (worker) => textIn(worker, 'name') === name && textIn(worker, 'status') !== 'disconnected',
      );
      const inFlight = workers.reduce((sum, worker) => sum + (numberIn(worker, 'active_invocations') ?? 0), 0);
      return judge(
        [],
        [
          { name: 'workers', value: workers.length, unit: 'count', atLeast: flags['min-workers'] },
          {
            name: 'in_flight',
            value: inFlight,
            unit: 'count',
            warn: flags['in-flight-warn'],
            critical: flags['in-flight-critical'],
          },
        ],
        'connected',
      );
    });
  },
});

export const checkTrigger = defineCommand({
  name: 'check trigger',
  summary: 'Check that a trigger is active and when it last fired.',
  operands: { usage: '<id>', min: 1, max: 1, help: 'The id of the trigger.' },
  details: ['An inactive trigger is a warning; a trigger in error, or one that does not exist, is critical.'],
  flags: {
    'silent-warn': durationThreshold('Warning when it has not fired for this long.'),
    'silent-critical': durationThreshold('Critical when it has not fired for this long.'),
    ...CONNECTION_FLAGS,
  },
  formats: MONITOR_FORMATS,
  examples: [
    { line: 'svc check trigger nightly-report --silent-critical 25h', shows: 'Critical when a night was missed.' },
    { line: 'svc check trigger nightly-report -o prometheus', shows: 'As metrics for a text file collector.' },
  ],
  monitors: true,
  async run(context) {
    const { flags, operands, terminal } = context;
    const [id = ''] = operands;
    return await monitor(context, { kind: 'trigger', subject: id }, async (engine) => {
      const found = await engine.call('engine::registered-triggers::info', { id }).catch((error) => {
        if (isSvcError(error, 'NOT_FOUND')) return undefined;
        throw error;
      });
      if (!isRecord(found)) return judge([{ level: 'critical', text: 'there is no such trigger' }], [], '');
      const firedMs = momentIn(found, 'last_fired_at');
      const [warn, critical] = [flags['silent-warn'], flags['silent-critical']];
      const neverFired: Finding[] =
        firedMs === undefined && (warn ?? critical) !== undefined
          ? [{ level: 'warning', text: 'it has not fired since the engine started' }]
          : [];
      return judge(
        [statusFinding(found), ...neverFired],
        firedMs === undefined
          ? []
          : [{ name: 'silent', value: Math.max(0, terminal.now() - firedMs), unit: 'ms', warn, critical }],
        `active, calls ${textIn(found, 'function_id')}`,
      );
    });
  },
});

function statusFinding(trigger: JsonRecord): Finding {
  const status = textIn(trigger, 'status');
  if (status === 'Active') return { level: 'ok', text: 'active' };
  const error = textIn(trigger, 'error');
  const text = `it is ${status.toLowerCase() || 'of unknown status'}${error === '' ? '' : `: ${error}`}`;
  if (status === 'Error') return { level: 'critical', text };
  return { level: status === 'Inactive' ? 'warning' : 'unknown', text };
}

/** Unix milliseconds or ISO. */
function momentIn(record: JsonRecord, field: string): number | undefined {
  const value = record[field];
  const unixMs = typeof value === 'string' ? Date.parse(value) : value;
  return typeof unixMs === 'number' && Number.isFinite(unixMs) ? unixMs : undefined;
}
