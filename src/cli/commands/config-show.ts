import { effectiveConfig } from '../../config/effective-config.ts';
import { defineCommand } from '../command.ts';
import { CONFIG_FLAGS, defaultConfiguration, readConfiguration } from '../configuration.ts';
import { stripUnsafeLines } from '../display-text.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failures.ts';

export const configShow = defineCommand({
  name: 'config show',
  summary: 'Print the configuration in effect, secrets redacted.',
  details: ['Every default is filled in and every variable expanded. Printed as YAML unless JSON is asked for.'],
  flags: {
    ...CONFIG_FLAGS,
    'use-default-config': { kind: 'switch', help: 'Show the built-in defaults instead of a file.' },
  },
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc config show', shows: 'What svc-config.yaml means.' },
    { line: 'svc config show --use-default-config --json', shows: 'What holds without any file.' },
  ],
  exitCodes: [EXIT.configuration],
  async run({ flags, output, terminal }) {
    const byDefault = flags['use-default-config'];
    if (byDefault && flags.config !== undefined) {
      throw usageFailure('--config and --use-default-config exclude each other.');
    }
    const read = byDefault ? defaultConfiguration(terminal) : await readConfiguration(flags.config, terminal);
    const effective = effectiveConfig(read.config);
    const { stringify } = await import('yaml');
    output.printDocument(effective, stripUnsafeLines(stringify(effective).trimEnd()));
    for (const warning of read.config.warnings) output.warn(warning);
    return EXIT.done;
  },
});
