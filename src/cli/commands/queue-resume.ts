import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { findQueue } from '../queue-facts.ts';

export const queueResume = defineCommand({
  name: 'queue resume',
  summary: 'Take a pause back.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The queue or topic, as svc queue list shows it.' },
  details: ['Does nothing where there is none.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue resume mail', shows: 'By its name.' },
    { line: 'svc queue resume mail --json', shows: 'For a script.' },
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
