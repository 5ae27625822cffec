import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { isRecord } from '../../text/records.ts';
import { describeWorker } from './worker-facts.ts';
import { DRAIN_FLAGS, drainMsOf } from './worker-flags.ts';

export const workerStop = defineCommand({
  name: 'worker stop',
  summary: 'Let a worker finish its calls and stop it.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Its name in the configuration.', kinds: ['worker'] },
  details: [
    'Handlers get time to finish, then the process is killed. svc worker start or a restart of the engine starts it ' +
      'again.',
  ],
  flags: { ...DRAIN_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker stop orders', shows: 'Gives its handlers 25 seconds.' },
    { line: 'svc worker stop orders --force', shows: 'Kills it immediately.' },
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
