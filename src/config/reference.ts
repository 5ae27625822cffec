// The configuration reference, generated from the schemas: `npm run docs` writes docs/configuration.md, and a test
// compares the two.

import type { Schema } from '../core/config-fields/fields.ts';
import { type FieldDescription, listFields } from '../core/config-fields/fields-describe.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../core/config-fields/module-declaration.ts';
import { topLevel } from './settings.ts';

export function configurationReference(declarations: readonly ModuleDeclaration[]): string {
  const modules = declarations.map((declaration) => {
    const { name, config, adapters } = declaration;
    const own = `## ${name}\n\n${factsOf(declaration)}${table(config)}`;
    const below = adapters.map(
      (adapter, index) => `### Adapter ${code(adapter.name)}\n\n${namesOf(adapter, index)}${table(adapter.config)}`,
    );
    return [own, ...below].join('\n');
  });
  return `${INTRODUCTION}\n## Top level\n\n${table(topLevel)}\n${modules.join('\n')}`;
}

const INTRODUCTION = `# Configuration reference

Made from the schemas by \`npm run docs\`; do not edit. \`svc config check\` names every problem with its place,
\`svc config show\` prints what is in effect, with \`--sources\` also where it comes from.

\`\`\`yaml
workers:
  - name: svc-state                 # a module of the engine
    config:
      max_value_bytes: 1048576
      adapter:
        name: kv
        config: {file_path: "\${SVC_DATA:./data}"}
  - name: orders                    # a program of your own, see docs/workers.md
    path: ./workers/orders
\`\`\`

A module runs only where it is listed, unless its section says otherwise. In place of its \`name\` an entry may give its
\`class\`, as older files do; the same holds for an adapter. In a value, \`\${NAME}\` stands for an environment
variable, which must be set, and \`\${NAME:default}\` for one that need not be. A key without a value counts as left
out, except for maps whose presence has a meaning, such as \`rbac\`: those, like keys that do not exist, are refused.
`;

function factsOf({ aliases, classes, alwaysLoaded, repeatable }: ModuleDeclaration): string {
  const notes = [
    ...(alwaysLoaded ? ['Runs without being listed.'] : []),
    ...(repeatable ? ['May be listed several times.'] : []),
    ...alsoCalled(aliases, classes),
  ];
  return notes.length === 0 ? '' : `${notes.join(' ')}\n\n`;
}

function namesOf({ aliases, classes }: AdapterDeclaration, index: number): string {
  const notes = [...(index === 0 ? ['The default.'] : []), ...alsoCalled(aliases, classes)];
  return notes.length === 0 ? '' : `${notes.join(' ')}\n\n`;
}

function alsoCalled(aliases: readonly string[], classes: readonly string[]): string[] {
  const names = [...aliases.map(code), ...classes.map((name) => `class ${code(name)}`)];
  return names.length === 0 ? [] : [`Also ${names.join(', ')}.`];
}

function table(schema: Schema<unknown>): string {
  const rows = listFields(schema).map(
    (field) => `| ${code(field.path)} | ${field.expected} | ${defaultOf(field)} | ${field.help ?? ''} |`,
  );
  if (rows.length === 0) return 'Nothing to configure.\n';
  return ['| Field | Value | Default | Meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function defaultOf({ fallback, isRequired }: FieldDescription): string {
  if (fallback === undefined) return isRequired ? 'required' : '';
  return code(JSON.stringify(fallback));
}

function code(text: string): string {
  return `\`${text}\``;
}
