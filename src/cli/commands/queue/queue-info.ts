import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { isRecord, numberIn, textIn } from '../../text/records.ts';
import { formatPairs } from '../../text/two-columns.ts';
import { findQueue, isTold, NOT_TOLD, timeText, withIsoTimes } from './queue-facts.ts';

export const queueInfo = defineCommand({
  name: 'queue info',
  summary: 'Show one queue or topic: its settings and its jobs.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The name, from svc queue list.' },
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue info mail', shows: 'Type, retries, concurrency, and the number of jobs in each state.' },
    { line: 'svc queue info mail --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output, terminal } = context;
    const [name = ''] = operands;
    const { queue, config } = await withEngine(context, async (engine) => {
      const found = await findQueue(engine, name);
      const stats = await engine.call('engine::queue::topic_stats', { topic: name });
      return { queue: found, config: isRecord(stats) && isRecord(stats.config) ? stats.config : {} };
    });
    const document = { ...withIsoTimes(queue, { oldest_enqueued_at: 'ms' }), config };
    const oldest = timeText(numberIn(queue, 'oldest_enqueued_at'), output, terminal);
    const lines = [
      ...COUNTS.map((field): [string, string] => [
        words(field),
        isTold(queue, field) ? textIn(queue, field) : NOT_TOLD,
      ]),
      ['oldest job', oldest || (isTold(queue, 'oldest_enqueued_at') ? 'none' : NOT_TOLD)] as [string, string],
      ['paused', queue.paused === true ? 'yes' : 'no'] as [string, string],
      ...Object.entries(config).map(([field, value]): [string, string] => [words(field), String(value ?? 'none')]),
    ];
    const shown = lines.map(([field, value]): [string, string] => [stripUnsafe(field), stripUnsafe(value)]);
    output.printDocument(document, [stripUnsafe(name), ...formatPairs(shown)].join('\n'));
    return EXIT.done;
  },
});

const COUNTS = ['waiting', 'running', 'retrying', 'delayed', 'waiting_for_worker', 'dead'] as const;

function words(field: string): string {
  return field.replaceAll('_', ' ');
}
