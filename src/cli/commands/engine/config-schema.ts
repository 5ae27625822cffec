import { configurationSchema } from '../../../config/json-schema.ts';
import { declareModules } from '../../../engine/start-checks.ts';
import { defineCommand } from '../../kernel/command.ts';
import { EXIT } from '../../kernel/exit-codes.ts';

export const configSchema = defineCommand({
  name: 'config schema',
  summary: 'Print the JSON schema of the configuration, for editors.',
  details: [
    'The schema is made from the rules of the engine. An editor with YAML support uses it through a first line in ' +
      'the file: # yaml-language-server: $schema=svc-config.schema.json',
    'The editor then finds most mistakes; svc config check finds all of them.',
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
