import { securityWarnings } from '../../../engine/start-checks.ts';
import { defineCommand } from '../../kernel/command.ts';
import { CONFIG_FLAGS, readConfiguration } from '../../kernel/configuration.ts';
import { EXIT } from '../../kernel/exit-codes.ts';

export const configCheck = defineCommand({
  name: 'config check',
  summary: 'Check the configuration file.',
  details: ['Reports every problem with line, column and path, and gives the warnings of svc start. Starts nothing.'],
  flags: CONFIG_FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc config check', shows: 'Checks svc-config.yaml in the current folder.' },
    {
      line: 'svc config check --config staging.yaml --json',
      shows: 'The same for a script; exit code 78 on a problem.',
    },
  ],
  exitCodes: [EXIT.configuration],
  async run({ flags, output, terminal }) {
    const { file, config } = await readConfiguration(flags.config, terminal);
    const modules = config.modules.map((module) => module.name);
    const warnings = securityWarnings(config);
    const listed = modules.length === 0 ? 'default modules only' : modules.join(', ');
    output.printDocument({ valid: true, file, modules, warnings }, `${file} is valid: ${listed}.`);
    for (const warning of warnings) output.warn(warning);
    return EXIT.done;
  },
});
