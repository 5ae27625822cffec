import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { isRecord } from '../../text/records.ts';
import { describeWorker } from './worker-facts.ts';

export const workerInfo = defineCommand({
  name: 'worker info',
  summary: 'Show a worker that the engine keeps running.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Its name in the configuration.', kinds: ['worker'] },
  details: [
    'Shows the process of the worker and the functions that it has registered. To see workers that the engine did ' +
      'not   start, use svc workers list.',
  ],
  flags: { ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker info orders', shows: 'State, process, memory, functions.' },
    { line: 'svc worker info orders --json', shows: 'The same for a script.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { operands, output, terminal } = context;
    const order = { name: operands[0] ?? '' };
    const answer = await withEngine(context, (engine) => engine.call('worker::status', order));
    output.printDocument(answer, isRecord(answer) ? describeWorker(answer, terminal.now()) : '');
    return EXIT.done;
  },
});
