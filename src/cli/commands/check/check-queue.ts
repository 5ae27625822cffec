import { defineCommand } from '../../kernel/command.ts';
import { CONNECTION_FLAGS } from '../../kernel/flags.ts';
import { type JsonRecord, numberIn, textIn } from '../../text/records.ts';
import { isReported, listQueues } from '../queue/queues.ts';
import {
  countThreshold,
  durationThreshold,
  type Finding,
  judge,
  type Measure,
  MONITOR_FORMATS,
  monitor,
} from './monitor.ts';

export const checkQueue = defineCommand({
  name: 'check queue',
  summary: 'Check the depth, the oldest job and the dead letters of a queue.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The name of the queue or topic.' },
  details: ['A paused queue is a warning; a queue that does not exist, or whose jobs are held back, is critical.'],
  flags: {
    'depth-warn': countThreshold('Warning when this many jobs are in it.'),
    'depth-critical': countThreshold('Critical when this many jobs are in it.'),
    'oldest-warn': durationThreshold('Warning when the oldest job was enqueued this long ago.'),
    'oldest-critical': durationThreshold('Critical when the oldest job was enqueued this long ago.'),
    'dead-warn': countThreshold('Warning when this many jobs are dead letters.'),
    'dead-critical': countThreshold('Critical when this many jobs are dead letters.'),
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
      const found = (await listQueues(engine)).find((row) => textIn(row, 'name') === queue);
      if (found?.is_configured !== true) return judge([{ level: 'critical', text: 'there is no such queue' }], [], '');
      const [warn, critical] = [flags['oldest-warn'], flags['oldest-critical']];
      const reportsAge = isReported(found, 'oldest_enqueued_at');
      const asksForAge = (warn ?? critical) !== undefined;
      return judge(
        [...pausedFinding(found), ...(asksForAge && !reportsAge ? [AGE_UNKNOWN] : [])],
        [
          {
            name: 'depth',
            value: STATES.reduce((sum, state) => sum + (numberIn(found, state) ?? 0), 0),
            unit: 'count',
            warn: flags['depth-warn'],
            critical: flags['depth-critical'],
          },
          ...(reportsAge ? [{ ...ageOf(found, terminal.now()), warn, critical }] : []),
          {
            name: 'dead',
            value: numberIn(found, 'dead') ?? 0,
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

function pausedFinding(queue: JsonRecord): Finding[] {
  const reason = textIn(queue, 'held_back');
  if (reason !== '') return [{ level: 'critical', text: reason }];
  return queue.paused === true ? [{ level: 'warning', text: 'the queue is paused' }] : [];
}

const AGE_UNKNOWN: Finding = { level: 'unknown', text: 'its adapter does not report the age of its jobs' };

/** The age of the job that was enqueued first; 0 when there is none. */
function ageOf(queue: JsonRecord, nowMs: number): Measure {
  const enqueuedMs = numberIn(queue, 'oldest_enqueued_at');
  return { name: 'oldest', value: enqueuedMs === undefined ? 0 : Math.max(0, nowMs - enqueuedMs), unit: 'ms' };
}

/** The number of jobs that are neither done nor dead. */
const STATES = ['waiting', 'delayed', 'retrying', 'waiting_for_worker', 'running'];
