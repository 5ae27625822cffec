import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { CONFIRM_FLAGS, confirm } from '../../text/confirm.ts';
import { DRAIN_FLAGS, drainMsOf } from './worker-flags.ts';

export const workerRemove = defineCommand({
  name: 'worker remove',
  summary: 'Stop a worker or module and remove it from the configuration.',
  operands: { usage: '<name>', min: 1, max: 1, help: 'Its name in the configuration.', kinds: ['worker'] },
  details: ['The engine changes its configuration file; the folder of the worker stays.'],
  flags: { ...CONFIRM_FLAGS, ...DRAIN_FLAGS, ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc worker remove orders', shows: 'Asks, lets handlers finish, and removes the entry.' },
    { line: 'svc worker remove svc-cron --yes', shows: 'Removes a module without asking.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output } = context;
    const name = operands[0] ?? '';
    await confirm(context, `Remove ${name} from the configuration of the engine?`);
    const order = { name, drain_ms: drainMsOf(flags) };
    const settings = { timeoutMs: drainMsOf(flags) + flags.timeout };
    const answer = await withEngine(context, (engine) => engine.call('worker::remove', order, settings));
    output.printDocument(answer, `Removed ${name}.`);
    return EXIT.done;
  },
});
