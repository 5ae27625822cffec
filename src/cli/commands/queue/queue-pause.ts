import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { findQueue } from './queue-facts.ts';

export const queuePause = defineCommand({
  name: 'queue pause',
  summary: 'Pause a queue: start no more of its jobs.',
  operands: { usage: '<queue>', min: 1, max: 1, help: 'The queue or topic, from svc queue list.' },
  details: ['Running jobs finish, and the queue still accepts jobs. A queue stays paused after a restart.'],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc queue pause mail', shows: 'Pauses the queue.' },
    { line: 'svc queue pause mail --json', shows: 'The same for a script.' },
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
