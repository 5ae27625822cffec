import { defineCommand } from '../command.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { type Finding, judge, MONITOR_FORMATS, monitor } from '../monitor.ts';
import { isRecord, numberIn } from '../records.ts';
import { countThreshold, durationThreshold } from '../thresholds.ts';

export const checkQueue = defineCommand({
  name: 'check queue',
  summary: 'Check what waits in a queue, how long, and what is dead.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The name of the queue or topic.' },
  details: ['A paused queue is a warning, one that does not exist is critical.'],
  flags: {
    'depth-warn': countThreshold('Warning when so many jobs are in it.'),
    'depth-critical': countThreshold('Critical when so many jobs are in it.'),
    'oldest-warn': durationThreshold('Warning when the oldest job was enqueued that long ago.'),
    'oldest-critical': durationThreshold('Critical when the oldest job was enqueued that long ago.'),
    'dead-warn': countThreshold('Warning when so many jobs are dead letters.'),
    'dead-critical': countThreshold('Critical when so many jobs are dead letters.'),
    ...CONNECTION_FLAGS,
  },
  formats: MONITOR_FORMATS,
  examples: [
    { line: 'svc check queue mail --depth-warn 1000 --oldest-critical 5m', shows: 'One line and an exit code.' },
    { line: 'svc check queue mail --dead-warn 1 -o nagios', shows: 'A warning at the first dead letter.' },
  ],
  monitors: true,
  async run(context) {
    const { flags, operands, terminal } = context;
    const [queue = ''] = operands;
    return await monitor(context, { kind: 'queue', subject: queue }, async (engine) => {
      const known = await engine.call('engine::queue::list_topics', {});
      const exists = Array.isArray(known) && known.some((entry) => isRecord(entry) && entry.name === queue);
      if (!exists) return judge([{ level: 'critical', text: 'there is no such queue' }], [], '');
      const stats = await engine.call('engine::queue::topic_stats', { topic: queue });
      const oldest = await engine.call('engine::queue::jobs', { queue, limit: 1 });
      const facts = isRecord(stats) ? stats : {};
      const count = (name: string) => numberIn(facts, name) ?? 0;
      return judge(
        pausedFinding(facts.paused),
        [
          {
            name: 'depth',
            value: count('depth'),
            unit: 'count',
            warn: flags['depth-warn'],
            critical: flags['depth-critical'],
          },
          {
            name: 'oldest',
            value: ageOf(oldest, terminal.now()),
            unit: 'ms',
            warn: flags['oldest-warn'],
            critical: flags['oldest-critical'],
          },
          {
            name: 'dead',
            value: count('dlq_depth'),
            unit: 'count',
            warn: flags['dead-warn'],
            critical: flags['dead-critical'],
          },
        ],
        'well',
      );
    });
  },
});

function pausedFinding(paused: unknown): Finding[] {
  return paused === true ? [{ level: 'warning', text: 'the queue is paused' }] : [];
}

/** Of the first job in the order of enqueueing; 0 where there is none. */
function ageOf(jobs: unknown, nowMs: number): number {
  const [first]: unknown[] = Array.isArray(jobs) ? jobs : [];
  const enqueuedMs = isRecord(first) ? numberIn(first, 'enqueued_at') : undefined;
  return enqueuedMs === undefined ? 0 : Math.max(0, nowMs - enqueuedMs);
}
