import { isSvcError } from '../../../sdk/calls/errors.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { isRecord, type JsonRecord, textIn } from '../../text/records.ts';
import { type Finding, judge, MONITOR_FORMATS, monitor } from './monitor.ts';
import { durationThreshold } from './thresholds.ts';

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
