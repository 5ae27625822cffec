import { withEngine } from '../../engine/connection.ts';
import { CONNECTION_FLAGS } from '../../engine/connection-flags.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';

export const stateExport = defineCommand({
  name: 'state export',
  summary: 'Print entries, one JSON object per line.',
  operands: { usage: '[scope]', min: 0, max: 1, help: 'Only entries of this scope.', kinds: ['scope'] },
  details: [
    'Each line is {"scope","key","value"}, the format of svc state import. Entries written during the export may or ' +
      'may not be included. For a consistent copy use svc backup.',
    'Numbers with more than about 15 digits, which only other programs can store, are printed rounded: a warning ' +
      'quotes one of them, and the exit code is 1.',
  ],
  flags: {
    prefix: { kind: 'text', placeholder: '<text>', help: 'Only keys that begin with the text.' },
    ...CONNECTION_FLAGS,
  },
  formats: ['jsonl'],
  examples: [
    { line: 'svc state export > state.jsonl', shows: 'All entries of all scopes.' },
    { line: 'svc state export users --prefix a', shows: 'Those of one scope whose keys begin with a.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused],
  async run(context) {
    const { flags, operands, output } = context;
    const filter = flags.prefix === undefined ? {} : { prefix: flags.prefix };
    let count = 0;
    const isWhole = await withEngine(
      context,
      async (engine) => {
        const { state } = engine;
        for await (const scope of operands.length === 0 ? state.scopes() : operands) {
          for await (const { key, value } of state.list<unknown>(scope, filter)) {
            output.printLine({ scope, key, value });
            count++;
          }
        }
        return engine.lostNumber === undefined;
      },
      { printsValues: true },
    );
    output.note(`${count} entries`);
    return isWhole ? EXIT.done : EXIT.failed;
  },
});
