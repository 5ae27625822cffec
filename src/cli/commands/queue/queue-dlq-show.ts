import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { stripUnsafeLines } from '../../text/display-text.ts';
import { isRecord, type JsonRecord, numberIn, textIn } from '../../text/records.ts';
import { formatPairs } from '../../text/two-columns.ts';
import { chooseLetter } from './dead-letters.ts';
import { timeText, withIsoTimes } from './queue-facts.ts';

export const queueDlqShow = defineCommand({
  name: 'queue dlq show',
  summary: 'Show one dead letter: error, attempts and payload.',
  operands: { usage: '<receipt>', min: 1, max: 1, help: 'The receipt, from svc queue dlq list.' },
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue dlq show 0192f0c1-7a52-7000-8000-000100011234', shows: 'Why the job failed, and its payload.' },
    { line: 'svc queue dlq show 0192f0c1-7a52-7000-8000-000100011234 --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output, terminal } = context;
    const readLetter = async (engine: EngineConnection): Promise<JsonRecord> => {
      const { queue, id } = await chooseLetter(engine, operands[0] ?? '');
      const answer = await engine.call('engine::queue::dlq_messages', { topic: queue, message_id: id });
      const [row] = Array.isArray(answer) ? answer : [];
      return { queue, ...(isRecord(row) ? row : {}) };
    };
    const letter = await withEngine(context, readLetter, { printsValues: true });
    const moment = (field: string): string => timeText((numberIn(letter, field) ?? 0) * 1_000, output, terminal);
    const pairs: [string, string][] = [
      ...['queue', 'id', 'function_id', 'reason', 'retries', 'deliveries'].map((field): [string, string] => [
        field.replaceAll('_', ' '),
        textIn(letter, field),
      ]),
      ['enqueued', moment('enqueued_at')],
      ['first failed', moment('first_failed_at')],
      ['failed', moment('failed_at')],
    ];
    const text = [
      ...formatPairs(pairs),
      '',
      textIn(letter, 'error'),
      '',
      JSON.stringify(letter.payload, undefined, 2) ?? 'null',
    ];
    const document = withIsoTimes(letter, { failed_at: 's', first_failed_at: 's', enqueued_at: 's' });
    output.printDocument(document, stripUnsafeLines(text.join('\n')));
    return EXIT.done;
  },
});
