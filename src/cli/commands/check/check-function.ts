import { isSvcError } from '../../../sdk/calls/errors.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { isRecord, numberIn, recordsIn, textIn } from '../../text/records.ts';
import { type Finding, judge, type Measure, MONITOR_FORMATS, monitor } from './monitor.ts';
import { countThreshold, durationThreshold } from './thresholds.ts';

export const checkFunction = defineCommand({
  name: 'check function',
  summary: 'Check that a function can be called, its errors and its durations.',
  operands: { usage: '<id>', min: 1, max: 1, help: 'The id of the function.' },
  details: ['Calls, errors and the 95th percentile count from the start of the engine. The function is not called.'],
  flags: {
    'min-workers': { ...countThreshold('Critical when fewer workers offer it.'), fallback: '1' },
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
    const { flags, operands } = context;
    const [functionId = ''] = operands;
    return await monitor(context, { kind: 'function', subject: functionId }, async (engine) => {
      const detail = await engine.call('engine::functions::info', { function_id: functionId }).catch((error) => {
        if (isSvcError(error, 'NOT_FOUND')) return undefined;
        throw error;
      });
      if (detail === undefined) return judge([NOT_OFFERED], [], '');
      const metrics = await engine.call('engine::metrics::list', {});
      const engineMetrics = isRecord(metrics) ? metrics.engine_metrics : undefined;
      const totals = recordsIn(engineMetrics, 'functions').find((row) => textIn(row, 'function_id') === functionId);
      const [ok, error] = [numberIn(totals ?? {}, 'ok') ?? 0, numberIn(totals ?? {}, 'error') ?? 0];
      const p95 = numberIn(totals ?? {}, 'p95_duration_ms');
      const measures: Measure[] = [
        { name: 'workers', value: recordsIn(detail, 'workers').length, unit: 'count', atLeast: flags['min-workers'] },
        {
          name: 'errors_percent',
          value: ok + error === 0 ? 0 : (error / (ok + error)) * 100,
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
      return judge([], measures, `can be called, ${ok + error} calls so far`);
    });
  },
});

const NOT_OFFERED: Finding = { level: 'critical', text: 'no connected worker offers it' };
