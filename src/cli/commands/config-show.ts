import { describeConfig } from '../../config/describe.ts';
import { effectiveConfig } from '../../config/effective-config.ts';
import { defineCommand } from '../command.ts';
import { CONFIG_FLAGS, defaultConfiguration, readConfiguration } from '../configuration.ts';
import { stripUnsafe, stripUnsafeLines } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failures.ts';
import type { Column } from '../table.ts';

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
    'Every default is filled in and every variable expanded. Printed as YAML unless JSON is asked for; with ' +
      '--sources as one line for each value.',
  ],
  flags: {
    ...CONFIG_FLAGS,
    sources: { kind: 'switch', help: 'Every value with where it comes from: default, file or environment.' },
    'use-default-config': { kind: 'switch', help: 'Show the built-in defaults instead of a file.' },
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc config show', shows: 'What svc-config.yaml means.' },
    { line: 'svc config show --use-default-config --json', shows: 'What holds without any file.' },
    { line: 'svc config show --sources', shows: 'Which values stand in the file, and which are defaults.' },
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
