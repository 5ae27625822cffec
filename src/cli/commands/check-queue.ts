import { defineCommand } from '../command.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { type Finding, judge, type Measure, MONITOR_FORMATS, monitor } from '../monitor.ts';
import { isTold, listQueues } from '../queue-facts.ts';
import { type JsonRecord, numberIn, textIn } from '../records.ts';
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
      const facts = (await listQueues(engine)).find((row) => textIn(row, 'name') === queue);
      if (facts?.is_configured !== true) return judge([{ level: 'critical', text: 'there is no such queue' }], [], '');
      const [warn, critical] = [flags['oldest-warn'], flags['oldest-critical']];
      const tellsAge = isTold(facts, 'oldest_enqueued_at');
      const asksForAge = (warn ?? critical) !== undefined;
      return judge(
        [...pausedFinding(facts.paused), ...(asksForAge && !tellsAge ? [AGE_NOT_TOLD] : [])],
        [
          {
            name: 'depth',
            value: STATES.reduce((sum, state) => sum + (numberIn(facts, state) ?? 0), 0),
            unit: 'count',
            warn: flags['depth-warn'],
            critical: flags['depth-critical'],
          },
          ...(tellsAge ? [{ ...ageOf(facts, terminal.now()), warn, critical }] : []),
          {
            name: 'dead',
            value: numberIn(facts, 'dead') ?? 0,
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

const AGE_NOT_TOLD: Finding = { level: 'unknown', text: 'its adapter cannot tell how old its jobs are' };

/** Of the job that was enqueued first; 0 where there is none. */
function ageOf(queue: JsonRecord, nowMs: number): Measure {
  const enqueuedMs = numberIn(queue, 'oldest_enqueued_at');
  return { name: 'oldest', value: enqueuedMs === undefined ? 0 : Math.max(0, nowMs - enqueuedMs), unit: 'ms' };
}

/** Of jobs that are not done, and not dead. */
const STATES = ['waiting', 'delayed', 'retrying', 'waiting_for_worker', 'running'];
