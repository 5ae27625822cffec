import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { recordsIn, textIn } from '../../text/records.ts';
import { judge, MONITOR_FORMATS, monitor } from './monitor.ts';
import { countThreshold } from './thresholds.ts';

export const checkAlerts = defineCommand({
  name: 'check alerts',
  summary: 'Check that no alert rule of the engine is firing.',
  flags: {
    'firing-warn': countThreshold('Warning when this many are firing.'),
    'firing-critical': { ...countThreshold('Critical when this many are firing.'), fallback: '1' },
    ...CONNECTION_FLAGS,
  },
  formats: MONITOR_FORMATS,
  examples: [
    { line: 'svc check alerts', shows: 'Critical while any alert is firing.' },
    { line: 'svc check alerts --firing-warn 1 --firing-critical 3', shows: 'One is a warning, three are critical.' },
  ],
  monitors: true,
  async run(context) {
    const { flags } = context;
    return await monitor(context, { kind: 'alerts', subject: '' }, async (engine) => {
      const alerts = recordsIn(await engine.call('engine::alerts::list', {}), 'alerts');
      const firing = alerts.filter((alert) => alert.firing === true).map((alert) => textIn(alert, 'name'));
      const verdict = judge(
        [],
        [
          {
            name: 'firing',
            value: firing.length,
            unit: 'count',
            warn: flags['firing-warn'],
            critical: flags['firing-critical'],
          },
        ],
        `none of ${alerts.length} rules is firing`,
      );
      return firing.length === 0 ? verdict : { ...verdict, text: `firing: ${firing.join(', ')}` };
    });
  },
});
