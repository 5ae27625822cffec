import { defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import { isRecord } from '../records.ts';
import { describeWorker } from '../worker-facts.ts';
import { DRAIN_FLAGS, drainMsOf } from '../worker-flags.ts';

export const workerStop = defineCommand({
  name: 'worker stop',
  summary: 'Let a worker finish, and stop it.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Its name in the configuration.', kinds: ['worker'] },
  details: [
    'Its handlers may finish; what has not ended then is killed. It is started again by svc worker ' +
      'start, or with the engine.',
  ],
  flags: { ...DRAIN_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker stop orders', shows: 'Gives its handlers 25 seconds.' },
    { line: 'svc worker stop orders --force', shows: 'Kills it at once.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const order = { name: operands[0] ?? '', drain_ms: drainMsOf(flags) };
    const answer = await withEngine(context, (engine) =>
      engine.call('worker::stop', order, { timeoutMs: drainMsOf(flags) + flags.timeout }),
    );
    output.printDocument(answer, isRecord(answer) ? describeWorker(answer, terminal.now()) : '');
    return EXIT.done;
  },
});
