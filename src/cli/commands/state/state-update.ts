// `svc state update`: operations on one entry, also in text form: `increment:count:1`, `set:name:Ann`,
// `merge:address:{"city":"Bonn"}`.

import { nearestWords } from '../../../core/config-fields/nearest.ts';
import type { UpdateError, UpdateOp } from '../../../sdk/data/update-ops.ts';
import { withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { refuseNumberLoss } from '../../text/number-loss.ts';
import { readJson } from '../call/payload.ts';
import { printChange } from './state-diff.ts';

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
  const list = await readJson(flags.ops, { what: 'list of operations', origin: '--ops', hint }, terminal);
  if (!Array.isArray(list)) throw usageFailure('The list of operations must be a JSON list.', hint);
  // The engine validates the operations, and its messages are more precise.
  return list;
}

function describe({ op_index: index, code, message }: UpdateError, ops: readonly UpdateOp[]): string {
  return `operation ${index + 1} (${stripUnsafe(ops[index]?.type ?? '')}) was skipped: ${message}  ${code}`;
}

const TYPES = ['set', 'merge', 'increment', 'decrement', 'append', 'remove'] as const;

/** The path is between the first two colons and the value follows them; an empty path means the whole value. */
function parseUpdateOp(typed: string): UpdateOp {
  const [type = '', path = '', ...rest] = typed.split(':');
  const value = rest.length === 0 ? undefined : rest.join(':');
  switch (type) {
    case 'set':
    case 'merge':
    case 'append':
      if (value === undefined) throw usageFailure(`--op ${typed} lacks a value: expected ${type}:<path>:<value>.`);
      return { type, path, value: parseValue(value, typed) };
    case 'increment':
    case 'decrement':
      return { type, path, by: parseStep(value ?? '1', typed) };
    case 'remove':
      if (value !== undefined) throw usageFailure(`--op ${typed} has a value: expected remove:<path>.`, FROM_FILE);
      return { type, path };
    default: {
      const [meant] = nearestWords(type, TYPES);
      const advice = meant === undefined ? `Expected one of ${TYPES.join(', ')}.` : `Did you mean ${meant}:…?`;
      throw usageFailure(`--op ${typed}: there is no operation '${type}'.`, advice);
    }
  }
}

/** Valid JSON is parsed; other text is a string. Text that begins like a list, an object or a string must be JSON. */
function parseValue(text: string, typed: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!/^\s*[[{"]/.test(text)) return text;
    const reason = error instanceof Error ? error.message : String(error);
    throw usageFailure(`--op ${typed}: the value is not valid JSON: ${reason}.`, FROM_FILE);
  }
  refuseNumberLoss(text, `--op ${typed}`);
  return value;
}

function parseStep(text: string, typed: string): number {
  const step = /^[-+]?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(step)) return step;
  throw usageFailure(`--op ${typed}: '${text}' is not a whole number.`);
}

const FROM_FILE = 'For names with colons, paths of several segments and long values use a file: --ops @file';
