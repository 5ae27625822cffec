// `svc types generate`: JSON schemas as TypeScript types. A type may be wider than its schema, never narrower: what
// TypeScript cannot express (patterns, ranges) is left out, and a schema that contains itself ends in `unknown`. A
// schema whose references would make the text grow exponentially also ends in `unknown`, with a comment that says so.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type EngineConnection, follow, withEngine } from '../../engine/connection.ts';
import { type Context, defineCommand } from '../../kernel/command.ts';
import { EXIT, usageFailure } from '../../kernel/failures.ts';
import { CONNECTION_FLAGS, type FlagTable } from '../../kernel/flags.ts';
import { escapeUnsafe } from '../../text/display-text.ts';
import { isRecord, type JsonRecord, recordsIn, textIn, textsIn } from '../../text/records.ts';
import { requestSchemaOf, responseSchemaOf } from './function-details.ts';
import { proxiesText, SDK } from './typed-proxies.ts';

const FLAGS = {
  out: { kind: 'text', placeholder: '<file>', help: 'Write to this file instead of stdout, such as svc.d.ts.' },
  watch: { kind: 'switch', help: 'Update the file when functions are added, removed or changed.' },
  ...CONNECTION_FLAGS,
} as const satisfies FlagTable;

const POLL_MS = 1_000;

export const typesGenerate = defineCommand({
  name: 'types generate',
  summary: 'Write TypeScript types for the functions that can be called.',
  details: [
    'The types come from the schemas that workers registered. With the file in your project, svc-sdk completes ids, ' +
      'checks payloads and types results. A function without schemas takes unknown and returns any.',
    'With a name that ends in .ts, and not in .d.ts, the file also has withFunctions: withFunctions(svc).fn.orders' +
      '.create(payload) calls orders::create. It covers the functions of the engine, too.',
  ],
  flags: FLAGS,
  formats: ['table', 'json', 'jsonl'],
  examples: [
    { line: 'svc types generate --out svc.d.ts', shows: 'Writes the file.' },
    { line: 'svc types generate --out src/svc.ts', shows: 'With typed proxies: svc.fn.orders.create(payload).' },
    { line: 'svc types generate --out svc.d.ts --watch', shows: 'Keeps the file up to date while you work.' },
  ],
  exitCodes: [EXIT.failed, EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.interrupted],
  async run(context) {
    const { flags, output, terminal } = context;
    if (flags.out === undefined) {
      if (flags.watch) throw usageFailure('--watch needs a file to write: --out svc.d.ts.');
      const { text, functions } = await withEngine(context, (engine) => generate(engine, false));
      output.printDocument({ functions, text }, text.trimEnd());
      return EXIT.done;
    }
    const file = resolve(terminal.cwd, flags.out);
    if (flags.watch) return await follow(context, POLL_MS, (engine) => update(context, engine, file));
    await withEngine(context, (engine) => update(context, engine, file));
    return EXIT.done;
  },
});

interface Generated {
  readonly text: string;
  readonly functions: number;
}

async function generate(engine: EngineConnection, hasProxies: boolean): Promise<Generated> {
  const answer = await engine.call('engine::functions::list', { include_internal: hasProxies });
  const rows = recordsIn(answer, 'functions');
  const functions = rows.map((row) => ({
    id: textIn(row, 'function_id'),
    description: textIn(row, 'description'),
    request: requestSchemaOf(row),
    response: responseSchemaOf(row),
  }));
  const text = hasProxies
    ? `${registryText(functions)}${proxiesText(functions.map(({ id }) => id))}`
    : registryText(functions);
  return { text: escapeUnsafe(text), functions: functions.length };
}

/** Does not write an unchanged file: editors and watchers notice every write. */
async function update({ output, flags }: Context<typeof FLAGS>, engine: EngineConnection, file: string): Promise<void> {
  const { text, functions } = await generate(engine, /(?<!\.d)\.ts$/.test(file));
  const before = await readFile(file, 'utf8').catch(() => undefined);
  if (before !== text) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } else if (flags.watch) {
    return;
  }
  const document = { file, functions, changed: before !== text };
  if (flags.watch && output.jsonAsked) output.printLine(document);
  else output.printDocument(document, `${flags.out}: ${functions} functions${before === text ? ', unchanged' : ''}.`);
}

export interface TypedFunction {
  readonly id: string;
  readonly description: string;
  /** Undefined when the function registered none. */
  readonly request: unknown;
  readonly response: unknown;
}

/** A module that adds the functions to the registry of the SDK. */
export function registryText(functions: readonly TypedFunction[]): string {
  const entries = functions.flatMap(({ id, description, request, response }) => [
    ...comment(description),
    // `trigger` also returns `any` for functions that it does not know.
    `    ${JSON.stringify(id)}: { in: ${typeText(request)}; ` +
      `out: ${response === undefined ? 'any' : typeText(response)} };`,
  ]);
  return [HEADING, ...entries, '  }', '}', ''].join('\n');
}

const HEADING = `// Written by \`svc types generate\` from the running engine. Do not edit.
import type {} from ${SDK};

declare module ${SDK} {
  interface Functions {`;

/** The description is untrusted text: nothing in it may end the comment. */
function comment(description: string): string[] {
  const text = description.replaceAll('*/', '* /').replace(/\s+/g, ' ').trim();
  return text === '' ? [] : [`    /** ${text} */`];
}

export function typeText(schema: unknown): string {
  const followed = { count: 0 };
  const text = typeBelow(schema, { root: schema, followed, open: new Set() });
  return followed.count > REFERENCES_MAX ? `${text} /* ${TOO_MANY} */` : text;
}

const REFERENCES_MAX = 1_000;
const TOO_MANY = `more than ${REFERENCES_MAX} references: the rest is unknown here`;

interface Reading {
  readonly root: unknown;
  /** How many references the whole type has followed. */
  readonly followed: { count: number };
  /** References that are being followed. */
  readonly open: ReadonlySet<string>;
}

function typeBelow(schema: unknown, reading: Reading): string {
  if (schema === false) return 'never';
  if (!isRecord(schema)) return 'unknown';
  const parts = [
    referenceType(schema, reading),
    literalType(schema),
    unionType(schema.anyOf, reading),
    unionType(schema.oneOf, reading),
    ...listIn(schema.allOf).map((part) => typeBelow(part, reading)),
    ownType(schema, reading),
  ].filter((part): part is string => part !== undefined && part !== 'unknown');
  const [only = 'unknown'] = parts;
  return parts.length > 1 ? parts.map(grouped).join(' & ') : only;
}

function referenceType({ $ref: reference }: JsonRecord, reading: Reading): string | undefined {
  if (typeof reference !== 'string') return undefined;
  if (reading.open.has(reference) || !reference.startsWith('#')) return 'unknown';
  if (++reading.followed.count > REFERENCES_MAX) return 'unknown';
  const steps = reference.slice(1).split('/').slice(1).map(decodeStep);
  const target = steps.reduce<unknown>(
    (value, step) => (isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined),
    reading.root,
  );
  return typeBelow(target, { ...reading, open: new Set([...reading.open, reference]) });
}

function decodeStep(step: string): string {
  const text = step.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function literalType(schema: JsonRecord): string | undefined {
  if ('const' in schema) return literal(schema.const);
  if (!Array.isArray(schema.enum)) return undefined;
  return union(schema.enum.map(literal));
}

function literal(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'unknown' : JSON.stringify(value);
}

function unionType(options: unknown, reading: Reading): string | undefined {
  const types = listIn(options).map((option) => typeBelow(option, reading));
  return types.length === 0 ? undefined : union(types);
}

function ownType(schema: JsonRecord, reading: Reading): string | undefined {
  const named = typeof schema.type === 'string' ? [schema.type] : textsIn(schema, 'type');
  const kinds = named.length === 0 && isRecord(schema.properties) ? ['object'] : named;
  if (kinds.length === 0) return undefined;
  const types = kinds.map((kind) => kindType(kind, schema, reading));
  if (schema.nullable === true) types.push('null');
  return union(types);
}

function kindType(kind: string, schema: JsonRecord, reading: Reading): string {
  switch (kind) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return kind;
    case 'integer':
      return 'number';
    case 'array':
      return arrayType(schema, reading);
    case 'object':
      return objectType(schema, reading);
    default:
      return 'unknown';
  }
}

function arrayType({ items }: JsonRecord, reading: Reading): string {
  return `${grouped(typeBelow(items, reading))}[]`;
}

function objectType(schema: JsonRecord, reading: Reading): string {
  const properties = isRecord(schema.properties) ? Object.entries(schema.properties) : [];
  const rest = typeBelow(schema.additionalProperties, reading);
  if (properties.length === 0) return schema.additionalProperties === false ? '{}' : `{ [key: string]: ${rest} }`;
  const required = textsIn(schema, 'required');
  const fields = properties.map(([key, property]) => {
    const isOptional = !required.includes(key) || (isRecord(property) && textIn(property, 'default') !== '');
    return `${JSON.stringify(key)}${isOptional ? '?' : ''}: ${typeBelow(property, reading)}`;
  });
  return `{ ${fields.join('; ')} }`;
}

function union(types: readonly string[]): string {
  if (types.length === 0) return 'never';
  return types.includes('unknown') ? 'unknown' : [...new Set(types)].join(' | ');
}

function grouped(type: string): string {
  return / [|&] /.test(type) ? `(${type})` : type;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
