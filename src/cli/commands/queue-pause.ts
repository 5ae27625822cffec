import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { findQueue } from '../queue-facts.ts';

export const queuePause = defineCommand({
  name: 'queue pause',
  summary: 'Hand over no more jobs of a queue.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The queue or topic, as svc queue list shows it.' },
  details: ['What runs goes on, and jobs are still taken. A pause lasts over restarts.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue pause mail', shows: 'By its name.' },
    { line: 'svc queue pause mail --json', shows: 'For a script.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output } = context;
    const [queue = ''] = operands;
    const answer = await withEngine(context, async (engine) => {
      await findQueue(engine, queue);
      return await engine.call('engine::queue::pause', { queue });
    });
    if (output.jsonAsked) output.printJson(answer);
    else output.note(`'${queue}' is paused.`);
    return EXIT.done;
  },
});
