import { describeConfig } from '../../../config/describe.ts';
import { effectiveConfig } from '../../../config/effective-config.ts';
import { defineCommand } from '../../kernel/command.ts';
import { CONFIG_FLAGS, defaultConfiguration, readConfiguration } from '../../kernel/configuration.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { usageFailure } from '../../kernel/failures.ts';
import { stripUnsafe, stripUnsafeLines } from '../../text/display-text.ts';
import type { Column } from '../../text/table.ts';

type SourcedValue = ReturnType<typeof describeConfig>['values'][number];

const SOURCE_COLUMNS: readonly Column<SourcedValue>[] = [
  { name: 'path', text: ({ path }) => stripUnsafe(path) },
  { name: 'value', cut: 'end', text: ({ value }) => stripUnsafe(JSON.stringify(value)) },
  { name: 'source', text: ({ source }) => source },
];

export const configShow = defineCommand({
  name: 'config show',
  summary: 'Print the configuration in effect, secrets redacted.',
  details: [
    'Defaults are filled in and variables expanded. The output is YAML, or JSON with --json; with --sources, one ' +
      'line   per value.',
  ],
  flags: {
    ...CONFIG_FLAGS,
    sources: { kind: 'switch', help: 'Show where each value comes from: default, file or environment.' },
    'use-default-config': { kind: 'switch', help: 'Show the built-in defaults instead of a file.' },
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc config show', shows: 'The effective values of svc-config.yaml.' },
    { line: 'svc config show --use-default-config --json', shows: 'The built-in defaults.' },
    { line: 'svc config show --sources', shows: 'Which values are from the file, and which are defaults.' },
  ],
  exitCodes: [EXIT.configuration],
  async run({ flags, output, terminal }) {
    const byDefault = flags['use-default-config'];
    if (byDefault && flags.config !== undefined) {
      throw usageFailure('--config and --use-default-config exclude each other.');
    }
    const read = byDefault ? defaultConfiguration(terminal) : await readConfiguration(flags.config, terminal);
    if (flags.sources) {
      const { values } = describeConfig(read.config);
      output.printRows({ columns: SOURCE_COLUMNS, rows: values, records: values });
    } else {
      const effective = effectiveConfig(read.config);
      const { stringify } = await import('yaml');
      output.printDocument(effective, stripUnsafeLines(stringify(effective).trimEnd()));
    }
    for (const warning of read.config.warnings) output.warn(warning);
    return EXIT.done;
  },
});
