// `svc state scopes`, `list`, `get` and `watch`: the scopes, the entries of a scope, the value of an entry, and changes
// as they happen.

import type { StateEntry, StateEvent } from '../../../sdk/data/state-client.ts';
import { type EngineConnection, withEngine } from '../../engine/connection.ts';
import { firstOf, LIST_EXIT_CODES, listFlags, showList } from '../../engine/listing.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { CliFailure, EXIT } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { stripUnsafe } from '../../text/display-text.ts';
import { isRecord } from '../../text/records.ts';
import type { Column } from '../../text/table.ts';
import { formatTime } from '../../text/times.ts';
import { absentKey, readEntry } from './state-entries.ts';

export const stateScopes = defineCommand({
  name: 'state scopes',
  summary: 'List the scopes of the state.',
  flags: { ...listFlags('scopes'), ...CONNECTION_FLAGS },
  formats: ['table', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc state scopes', shows: 'The scopes that hold entries.' },
    { line: 'svc state scopes --json', shows: 'The same for a script.' },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    return await showList(context, { what: 'scopes' }, async ({ state }) => {
      const { rows, total } = await firstOf(state.scopes(), context.flags.limit);
      const none = 'The state is empty. Write an entry with: svc state set <scope> <key> <json>';
      return { columns: [SCOPE], rows, records: rows.map((scope) => ({ scope })), total, none };
    });
  },
});

export const stateList = defineCommand({
  name: 'state list',
  summary: 'List the entries of a scope.',
  operands: { usage: '<scope>', min: 1, max: 1, help: 'The scope, from svc state scopes.', kinds: ['scope'] },
  flags: {
    prefix: { kind: 'text', placeholder: '<text>', help: 'Only keys that begin with the text.' },
    keys: { kind: 'switch', help: 'Only the keys, without their values.' },
    ...listFlags('entries'),
    ...CONNECTION_FLAGS,
  },
  formats: ['table', 'wide', 'json', 'jsonl', 'csv'],
  examples: [
    { line: 'svc state list users', shows: 'Keys and values, in the order of the keys.' },
    { line: 'svc state list users --prefix a --keys', shows: 'The keys that begin with a.' },
    { line: 'svc state list users -o jsonl', shows: 'One entry per line, as {"key","value"}.' },
  ],
  exitCodes: LIST_EXIT_CODES,
  async run(context) {
    const { flags, operands } = context;
    const [scope = ''] = operands;
    const filter = flags.prefix === undefined ? {} : { prefix: flags.prefix };
    return await showList(context, { what: 'entries', printsValues: true }, async ({ state }) => {
      const { rows, total } = await firstOf(state.list<unknown>(scope, filter), flags.limit);
      const none = `No entries in '${scope}'. List the scopes with: svc state scopes`;
      if (!flags.keys) return { columns: [KEY, VALUE], rows, total, none };
      return { columns: [KEY], rows, records: rows.map(({ key }) => ({ key })), total, none };
    });
  },
});

const SCOPE: Column<string> = { name: 'scope', cut: 'middle', text: (scope) => scope };
const KEY: Column<StateEntry<unknown>> = { name: 'key', cut: 'middle', text: ({ key }) => key };
const VALUE: Column<StateEntry<unknown>> = { name: 'value', cut: 'end', text: ({ value }) => JSON.stringify(value) };

export const stateGet = defineCommand({
  name: 'state get',
  summary: 'Print the value of an entry.',
  operands: {
    usage: '<scope> <key>',
    min: 2,
    max: 2,
    help: 'The entry. The exit code is 3 if it does not exist.',
    kinds: ['scope', 'key'],
  },
  flags: {
    path: { kind: 'text', placeholder: '<a.b>', help: 'Only the value at this path of fields and positions.' },
    raw: { kind: 'switch', help: 'Print a text without quotes and escapes.' },
    'with-version': { kind: 'switch', help: 'Print {"value", "version"}, for state set --if-version.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc state get users ann', shows: 'The value as JSON; null when null is stored.' },
    { line: 'svc state get users ann --path address.city --raw', shows: 'One text inside it, for a script.' },
    { line: 'svc state get users ann --with-version', shows: 'The value, and the version for a conditional write.' },
  ],
  exitCodes: [EXIT.notFound, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output, terminal } = context;
    const [scope = '', key = ''] = operands;
    const read = flags['with-version'] ? readVersioned : readEntry;
    const value = await withEngine(context, (engine) => read(engine, scope, key), { printsValues: true });
    const shown = flags.path === undefined ? value : insideOf(value, flags.path, key);
    if (flags.raw && typeof shown === 'string') terminal.out.write(`${shown}\n`);
    else output.printJson(shown);
    return EXIT.done;
  },
});

/** Value and version, read together. */
async function readVersioned(engine: EngineConnection, scope: string, key: string): Promise<unknown> {
  const answer = await engine.call('state::get', { scope, key, include_version: true });
  if (isRecord(answer) && typeof answer.version === 'string') return answer;
  throw await absentKey(engine, scope, key);
}

function insideOf(value: unknown, path: string, key: string): unknown {
  let found = value;
  for (const segment of path.split('.')) {
    const isThere = (isRecord(found) || Array.isArray(found)) && Object.hasOwn(found, segment);
    if (!isThere) {
      const message = `The value of '${key}' has no '${path}': '${segment}' does not exist.`;
      throw new CliFailure({ code: 'NOT_FOUND', message, exitCode: EXIT.notFound, details: { key, path } });
    }
    found = Reflect.get(Object(found), segment);
  }
  return found;
}

const WATCH_FLAGS = {
  key: { kind: 'text', placeholder: '<key>', help: 'Only changes of this key.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const stateWatch = defineCommand({
  name: 'state watch',
  summary: 'Print changes of the state as they happen.',
  operands: { usage: '[scope]', min: 0, max: 1, help: 'Only changes of this scope.', kinds: ['scope'] },
  details: ['Runs until interrupted. With --json, one object per line: the event that state triggers receive.'],
  flags: WATCH_FLAGS,
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
      const watch = state.watch<unknown>(filter, (event) => printEvent(context, event));
      await watch.ready();
      output.note(
        `Watching ${scope === undefined ? 'all scopes' : `'${stripUnsafe(scope)}'`} at ${address}. Stop with Ctrl-C.`,
      );
      return await lost;
    });
  },
});

function printEvent({ output, terminal }: Context<typeof WATCH_FLAGS>, event: StateEvent<unknown>): void {
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
