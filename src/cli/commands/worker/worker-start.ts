import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { isRecord } from '../../text/records.ts';
import { describeWorker } from './worker-facts.ts';
import { WAIT_FLAGS, waitMsOf } from './worker-flags.ts';

export const workerStart = defineCommand({
  name: 'worker start',
  summary: 'Start a worker of the configuration.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Its name in the configuration.', kinds: ['worker'] },
  details: [
    'If its dependencies have changed, they are installed first. A worker that the engine gave up after repeated ' +
      'crashes is tried again.',
  ],
  flags: { ...WAIT_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker start orders', shows: 'Starts it and waits until it has registered.' },
    { line: 'svc worker start orders --no-wait', shows: 'Returns when the process runs.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const order = { name: operands[0] ?? '', wait_ms: waitMsOf(flags) };
    const answer = await withEngine(context, (engine) =>
      engine.call('worker::start', order, { timeoutMs: waitMsOf(flags) + flags.timeout }),
    );
    output.printDocument(answer, isRecord(answer) ? describeWorker(answer, terminal.now()) : '');
    return EXIT.done;
  },
});
