import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { findQueue } from './queue-facts.ts';

export const queueResume = defineCommand({
  name: 'queue resume',
  summary: 'Resume a paused queue.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The queue or topic, from svc queue list.' },
  details: ['Does nothing when the queue is not paused.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue resume mail', shows: 'Resumes the queue.' },
    { line: 'svc queue resume mail --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output } = context;
    const [queue = ''] = operands;
    const answer = await withEngine(context, async (engine) => {
      await findQueue(engine, queue);
      return await engine.call('engine::queue::resume', { queue });
    });
    if (output.jsonAsked) output.printJson(answer);
    else output.note(`'${queue}' is resumed.`);
    return EXIT.done;
  },
});
