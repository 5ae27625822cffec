// The configuration reference, made from the schemas themselves: `npm run docs` writes docs/configuration.md, and a
// test compares the two.

import type { Schema } from '../core/fields.ts';
import { type FieldFacts, listFields } from '../core/fields-facts.ts';
import type { ModuleDeclaration } from '../core/module-declaration.ts';
import { topLevel } from './settings.ts';

export function configurationReference(declarations: readonly ModuleDeclaration[]): string {
  const modules = declarations.map(({ name, classes, config, adapters }) => {
    const spellings = classes.length === 0 ? '' : `In the class style: ${classes.map(code).join(', ')}.\n\n`;
    const own = `## ${name}\n\n${spellings}${table(config)}`;
    const below = adapters.map((adapter) => `### Adapter ${code(adapter.name)}\n\n${table(adapter.config)}`);
    return [own, ...below].join('\n');
  });
  return `${INTRODUCTION}\n## Top level\n\n${table(topLevel)}\n${modules.join('\n')}`;
}

const INTRODUCTION = `# Configuration reference

Made from the schemas by \`npm run docs\`; do not edit. Any value may be \`\${NAME}\` or \`\${NAME:default}\`, read
from the environment. \`svc config check\` names every problem with its place, \`svc config show\` prints what is in
effect.
`;

function table(schema: Schema<unknown>): string {
  const rows = listFields(schema).map(
    (field) => `| ${code(field.path)} | ${field.expected} | ${defaultOf(field)} | ${field.help ?? ''} |`,
  );
  if (rows.length === 0) return 'Nothing to configure.\n';
  return ['| Field | Value | Default | Meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function defaultOf({ fallback, isRequired }: FieldFacts): string {
  if (fallback === undefined) return isRequired ? 'required' : '';
  return code(JSON.stringify(fallback));
}

function code(text: string): string {
  return `\`${text}\``;
}
