import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { isRecord } from '../../text/records.ts';
import { describeWorker } from './worker-facts.ts';
import { DRAIN_FLAGS, drainMsOf, WAIT_FLAGS, waitMsOf } from './worker-flags.ts';

export const workerRestart = defineCommand({
  name: 'worker restart',
  summary: 'Stop a worker and start it again.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Its name in the configuration.', kinds: ['worker'] },
  details: ['The old process ends before the new one starts.'],
  flags: { ...WAIT_FLAGS, ...DRAIN_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker restart orders', shows: 'Uses the changed files of its folder.' },
    { line: 'svc worker restart orders --drain 5s', shows: 'Gives its handlers five seconds.' },
  ],
  exitCodes: [EXIT.failed, EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const order = { name: operands[0] ?? '', drain_ms: drainMsOf(flags), wait_ms: waitMsOf(flags) };
    const answer = await withEngine(context, (engine) =>
      engine.call('worker::restart', order, { timeoutMs: drainMsOf(flags) + waitMsOf(flags) + flags.timeout }),
    );
    output.printDocument(answer, isRecord(answer) ? describeWorker(answer, terminal.now()) : '');
    return EXIT.done;
  },
});
