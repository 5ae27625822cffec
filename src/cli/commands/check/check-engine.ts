import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { isRecord, textIn } from '../../text/records.ts';
import { type Finding, judge, MONITOR_FORMATS, monitor } from './monitor.ts';
import { durationThreshold } from './thresholds.ts';

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
