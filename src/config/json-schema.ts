// The configuration as a JSON Schema (draft 2020-12), for editors: completion, hover text, red underlines. Generated
// from the declarations that the engine checks a file against. It is more lenient than the engine: only `svc config
// check` finds contradictions between fields and knows the values of variables.

import { isOptionalGroup, type Schema } from '../core/config-fields/fields.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../core/config-fields/module-declaration.ts';
import { projectWorkerFields } from './project-workers.ts';
import { topLevel } from './settings.ts';

type Json = Readonly<Record<string, unknown>>;

export function configurationSchema(declarations: readonly ModuleDeclaration[]): Json {
  const { properties, ...rest } = schemaOf(topLevel);
  const entries = { type: 'array', items: { $ref: '#/$defs/entry' } };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'svc-config.yaml',
    ...rest,
    properties: { ...recordOf(properties), workers: entries, modules: entries },
    $defs: { entry: { anyOf: [...declarations.map(moduleEntry), schemaOf(projectWorkerFields)] }, variable: VARIABLE },
  };
}

/** Any value may be written as a variable, and is checked after expansion. */
const VARIABLE = { type: 'string', pattern: '\\$\\{[^}]+\\}' };

function moduleEntry(declaration: ModuleDeclaration): Json {
  const { adapters } = declaration;
  const config = schemaOf(declaration.config);
  if (adapters.length === 0) return namedEntry(declaration, config);
  const adapter = { anyOf: adapters.map((one) => namedEntry(one, schemaOf(one.config))) };
  return namedEntry(declaration, { ...config, properties: { ...recordOf(config.properties), adapter } });
}

/** Distinguished by `name` or `class`; a key without a value counts as absent everywhere in the file. */
function namedEntry({ name, aliases, classes }: ModuleDeclaration | AdapterDeclaration, config: Json): Json {
  const byName = { properties: { name: { enum: [name, ...aliases] } }, required: ['name'] };
  const byClass = { properties: { class: { enum: classes } }, required: ['class'] };
  return {
    type: 'object',
    anyOf: classes.length === 0 ? [byName] : [byName, byClass],
    properties: { name: { type: 'string' }, class: { type: 'string' }, config: orNull(config) },
    additionalProperties: false,
  };
}

function schemaOf(schema: Schema<unknown>): Json {
  const { help, fallback } = schema;
  return {
    ...(help === undefined ? {} : { description: help }),
    ...(fallback === undefined ? {} : { default: fallback }),
    ...kindOf(schema),
  };
}

function kindOf(schema: Schema<unknown>): Json {
  switch (schema.kind) {
    case 'text':
      // Their limits count bytes, which JSON Schema cannot say; a text of n bytes has at most n characters.
      return { type: 'string', ...(schema.bytesMin > 0 && { minLength: 1 }), ...upTo('maxLength', schema.bytesMax) };
    case 'integer':
    case 'number':
      return orVariable({ type: schema.kind, ...from('minimum', schema.min), ...upTo('maximum', schema.max) });
    case 'flag':
      return orVariable({ type: 'boolean' });
    case 'oneOf':
      return orVariable({ enum: schema.words });
    case 'listOf':
      return { type: 'array', items: schemaOf(schema.item) };
    case 'mapOf':
      return { type: 'object', additionalProperties: schemaOf(schema.item) };
    case 'either':
      return { anyOf: schema.options.map(schemaOf) };
    case 'optional':
      return schemaOf(schema.inner);
    case 'anything':
      return {};
    case 'refused':
      return { not: {}, description: schema.reason };
    case 'fields':
      return objectOf(schema.fields);
  }
}

function objectOf(fields: ReadonlyMap<string, Schema<unknown>>): Json {
  const keys = [...fields];
  const required = keys.filter(([, field]) => mustBeGiven(field)).map(([key]) => key);
  return {
    type: 'object',
    properties: Object.fromEntries(
      keys.map(([key, field]) => {
        if (field.kind === 'refused') return [key, kindOf(field)];
        return [key, isOptionalGroup(field) ? schemaOf(field) : orNull(schemaOf(field))];
      }),
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** An omitted map of fields counts as empty, so only fields inside it can be missing. */
function mustBeGiven({ kind, fallback }: Schema<unknown>): boolean {
  return fallback === undefined && !['optional', 'refused', 'fields', 'anything'].includes(kind);
}

function orVariable(kind: Json): Json {
  return { anyOf: [kind, { $ref: '#/$defs/variable' }] };
}

/** `key:` without a value is the same as no key. The description stays outside, where editors look. */
function orNull({ description, default: fallback, ...kind }: Json): Json {
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [kind, { type: 'null' }],
  };
}

function from(keyword: string, min: number): Json {
  return min === Number.NEGATIVE_INFINITY ? {} : { [keyword]: min };
}

function upTo(keyword: string, max: number): Json {
  return max === Number.POSITIVE_INFINITY ? {} : { [keyword]: max };
}

function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
