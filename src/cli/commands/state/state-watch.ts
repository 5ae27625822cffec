import type { StateEvent } from '../../../sdk/data/state-client.ts';
import { withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import type { FlagTable } from '../../kernel/flags.ts';
import { CONNECTION_FLAGS } from '../../kernel/shared-flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { formatTime } from '../../text/times.ts';

const FLAGS = {
  key: { kind: 'text', placeholder: '<key>', help: 'Only changes of this key.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const stateWatch = defineCommand({
  name: 'state watch',
  summary: 'Print changes of the state as they happen.',
  operands: { usage: '[scope]', min: 0, max: 1, help: 'Only changes of this scope.', kinds: ['scope'] },
  details: ['Runs until interrupted. With --json, one object per line: the event that state triggers receive.'],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc state watch orders', shows: 'Every change in the scope.' },
    { line: 'svc state watch orders --key o-17 --json', shows: 'The changes of one entry, one JSON object per line.' },
  ],
  exitCodes: [EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    const { flags, operands, output } = context;
    const [scope] = operands;
    return await withEngine(context, async ({ address, state, lost }) => {
      const filter = {
        ...(scope === undefined ? {} : { scope }),
        ...(flags.key === undefined ? {} : { key: flags.key }),
      };
      const watch = state.watch<unknown>(filter, (event) => print(context, event));
      await watch.ready();
      output.note(
        `Watching ${scope === undefined ? 'all scopes' : `'${stripUnsafe(scope)}'`} at ${address}. Stop with Ctrl-C.`,
      );
      return await lost;
    });
  },
});

function print({ output, terminal }: Context<typeof FLAGS>, event: StateEvent<unknown>): void {
  if (output.jsonAsked) return output.printLine(event);
  const { timestamp, event_type: type, scope, key, old_value: before, new_value: after } = event;
  // The line stays on the screen, so a relative time would soon be wrong.
  const time = formatTime(timestamp, output.timeStyle === 'utc' ? 'utc' : 'local', terminal.now());
  const entry = stripUnsafe(`${scope} ${key}`);
  const change =
    type === 'state:deleted' ? JSON.stringify(before) : `${JSON.stringify(before)} → ${JSON.stringify(after)}`;
  const paint = type === 'state:deleted' ? output.paintOut.red : output.paintOut.green;
  terminal.out.write(
    `${output.paintOut.dim(time)}  ${paint(type.slice('state:'.length))}  ${entry}  ${stripUnsafe(change)}\n`,
  );
}
