// The checks of the engine as a whole: its health and its alert rules.

import { defineCommand } from '../../kernel/command.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { isRecord, recordsIn, textIn } from '../../text/records.ts';
import { countThreshold, durationThreshold, type Finding, judge, MONITOR_FORMATS, monitor } from './monitor.ts';

export const checkEngine = defineCommand({
  name: 'check engine',
  summary: 'Check that the engine answers in time and is healthy.',
  details: ['A degraded engine is a warning; an unhealthy or unreachable one is critical.'],
  flags: {
    'rtt-warn': durationThreshold('Warning when an answer takes this long.'),
    'rtt-critical': durationThreshold('Critical when an answer takes this long.'),
    ...CONNECTION_FLAGS,
  },
  formats: MONITOR_FORMATS,
  examples: [
    { line: 'svc check engine --rtt-warn 50ms', shows: 'One line, and an exit code for monitoring.' },
    { line: 'svc check engine -o nagios --timeout 5s', shows: 'With performance data.' },
  ],
  monitors: true,
  async run(context) {
    const { flags, terminal } = context;
    return await monitor(context, { kind: 'engine', subject: '', down: 'critical' }, async (engine) => {
      // The first call includes the setup of the connection.
      await engine.call('engine::health::check', {});
      const startedMs = terminal.elapsedMs();
      const health = await engine.call('engine::health::check', {});
      const rtt = terminal.elapsedMs() - startedMs;
      const status = isRecord(health) ? textIn(health, 'status') : '';
      const version = isRecord(health) ? textIn(health, 'version') : '';
      return judge(
        [healthFinding(status, health)],
        [{ name: 'rtt', value: rtt, unit: 'ms', warn: flags['rtt-warn'], critical: flags['rtt-critical'] }],
        `healthy, version ${version}`,
      );
    });
  },
});

function healthFinding(status: string, health: unknown): Finding {
  if (status === 'healthy') return { level: 'ok', text: 'healthy' };
  const parts = troubledParts(health);
  const text = `the engine is ${status || 'of unknown health'}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
  if (status === 'degraded') return { level: 'warning', text };
  return { level: status === 'unhealthy' ? 'critical' : 'unknown', text };
}

/** Components, and modules below them, that are not healthy. */
function troubledParts(health: unknown): string[] {
  const components = isRecord(health) && isRecord(health.components) ? health.components : {};
  const modules = isRecord(components.modules) ? components.modules : {};
  return Object.entries({ ...components, ...modules }).flatMap(([name, part]) => {
    const status = isRecord(part) ? textIn(part, 'status') : '';
    return status === 'degraded' || status === 'unhealthy' ? [`${name} ${status}`] : [];
  });
}

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
