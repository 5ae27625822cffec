import { configurationSchema } from '../../config/json-schema.ts';
import { declareModules } from '../../start-checks.ts';
import { defineCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';

export const configSchema = defineCommand({
  name: 'config schema',
  summary: 'Print the JSON schema of the configuration, for editors.',
  details: [
    'Made from what the engine checks a file against. An editor with YAML support takes it by a first line in the ' +
      'file: # yaml-language-server: $schema=svc-config.schema.json',
    'It finds most mistakes while you type; svc config check finds all of them.',
  ],
  flags: {},
  formats: ['json', 'jsonl'],
  examples: [
    { line: 'svc config schema > svc-config.schema.json', shows: 'For an editor.' },
    { line: 'svc config schema -o jsonl', shows: 'On one line.' },
  ],
  async run({ output }) {
    output.printJson(configurationSchema(declareModules().declarations));
    return EXIT.done;
  },
});
