import type { UpdateError, UpdateOp } from '../../../sdk/data/update-ops.ts';
import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { usageFailure } from '../../kernel/failures.ts';
import type { FlagTable } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { readJson } from '../call/call-payload.ts';
import { printChange } from './state-change.ts';
import { parseUpdateOp } from './update-op-text.ts';

const FLAGS = {
  op: {
    kind: 'texts',
    placeholder: '<op>',
    help: 'An operation as type:path:value, such as increment:count:1; may be repeated. The value is JSON or text.',
  },
  ops: { kind: 'text', placeholder: '<json>', help: 'The list of operations as JSON; @file reads a file, - stdin.' },
  show: { kind: 'switch', help: 'Print what changed.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const stateUpdate = defineCommand({
  name: 'state update',
  summary: 'Apply operations to an entry, in one atomic step.',
  operands: {
    usage: '<scope> <key>',
    min: 2,
    max: 2,
    help: 'The entry. It is created if it does not exist.',
    kinds: ['scope', 'key'],
  },
  details: [
    'Operations: set, merge, increment, decrement, append, remove. They apply in the given order. An operation that ' +
      'fails is skipped and reported on stderr, and the exit code is 1. An empty path means the whole value.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc state update users ann --op increment:visits:1', shows: 'Counts up.' },
    { line: `svc state update users ann --op set:name:Ann --op 'append:tags:"vip"'`, shows: 'Two steps at once.' },
    { line: 'svc state update users ann --ops @ops.json --show', shows: 'Operations from a file.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output } = context;
    const [scope = '', key = ''] = operands;
    const ops = await readOps(context);
    const update = await withEngine(context, ({ state }) => state.update<unknown>(scope, key, ...ops));
    printChange(output, update, flags.show);
    for (const error of update.errors) output.warn(describe(error, ops));
    return update.errors.length === 0 ? EXIT.done : EXIT.failed;
  },
});

async function readOps({ flags, terminal }: Context<typeof FLAGS>): Promise<readonly UpdateOp[]> {
  if (flags.ops === undefined) {
    if (flags.op.length > 0) return flags.op.map(parseUpdateOp);
    throw usageFailure('No operation given.', 'Give at least one: --op increment:count:1, or a list: --ops @file');
  }
  if (flags.op.length > 0) throw usageFailure('--op and --ops exclude each other.');
  const hint = `In a shell, put it into single quotes: --ops '[{"type":"remove","path":"draft"}]'`;
  const list = await readJson(flags.ops, { what: 'list of operations', place: '--ops', hint }, terminal);
  if (!Array.isArray(list)) throw usageFailure('The list of operations must be a JSON list.', hint);
  // The engine validates the operations, and its messages are more precise.
  return list;
}

function describe({ op_index: index, code, message }: UpdateError, ops: readonly UpdateOp[]): string {
  return `operation ${index + 1} (${stripUnsafe(ops[index]?.type ?? '')}) was skipped: ${message}  ${code}`;
}
