import { readJson, readText } from '../call-payload.ts';
import { type Context, defineCommand } from '../command.ts';
import { withEngine } from '../connection.ts';
import { CONNECTION_FLAGS } from '../connection-flags.ts';
import { EXIT } from '../exit-codes.ts';
import type { FlagTable } from '../flags.ts';
import { printChange } from '../state-change.ts';

const FLAGS = {
  text: { kind: 'switch', help: 'The value is the text itself, not JSON.' },
  show: { kind: 'switch', help: 'Print what changed.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

export const stateSet = defineCommand({
  name: 'state set',
  summary: 'Write the value of an entry.',
  operands: {
    usage: '<scope> <key> <json>',
    min: 3,
    max: 3,
    help: 'The entry, and its new value as JSON; @file reads a file, - reads stdin.',
  },
  details: ['Prints nothing without --show or --json. The old value is overwritten.'],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: `svc state set users ann '{"name":"Ann"}'`, shows: 'Writes the value.' },
    { line: 'svc state set users ann @ann.json --show', shows: 'Writes what the file holds; prints the difference.' },
    { line: 'svc state set notes today --text -', shows: 'Writes stdin as one text.' },
  ],
  exitCodes: [EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const [scope = '', key = ''] = context.operands;
    const value = await readValue(context);
    const change = await withEngine(context, ({ state }) => state.set<unknown>(scope, key, value));
    printChange(context.output, change, context.flags.show);
    return EXIT.done;
  },
});

async function readValue({ flags, operands, terminal }: Context<typeof FLAGS>): Promise<unknown> {
  const [, , source = ''] = operands;
  const names = {
    what: 'value',
    place: 'the command line',
    hint: `In a shell, put it into single quotes: '{"name":"Ann"}'. A plain text is written with --text.`,
  };
  return flags.text ? (await readText(source, names, terminal)).text : await readJson(source, names, terminal);
}
