// The model of a form made from a JSON Schema (FUN-6): which field a part of a schema becomes, and how a value changes
// in one place. A part that is not understood becomes JSON text; the other parts keep their fields.

import { isRecord } from '../../../../../protocol/json/record.ts';
import { resolveRef, type SchemaNode, sampleOf, typeOf } from './schema-at.ts';

export type FormField =
  | { readonly kind: 'object'; readonly members: readonly FormMember[]; readonly extra: SchemaNode | true | undefined }
  | { readonly kind: 'array'; readonly items: SchemaNode }
  | { readonly kind: 'choice'; readonly choices: readonly unknown[] }
  | { readonly kind: 'fixed'; readonly value: unknown }
  | { readonly kind: 'text'; readonly input: 'text' | 'email' | 'url' | 'datetime' | 'multiline' }
  | { readonly kind: 'number'; readonly whole: boolean }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'null' }
  | { readonly kind: 'union'; readonly branches: readonly UnionBranch[]; readonly by: string }
  | { readonly kind: 'json' };

export interface FormMember {
  readonly name: string;
  readonly schema: SchemaNode;
  readonly required: boolean;
}

export interface UnionBranch {
  readonly tag: string;
  readonly schema: SchemaNode;
}

export function fieldOf(root: SchemaNode, schema: SchemaNode): FormField {
  const at = resolveRef(root, schema);
  if (at === undefined) return { kind: 'json' };
  if (at.const !== undefined) return { kind: 'fixed', value: at.const };
  if (at.enum !== undefined) return { kind: 'choice', choices: at.enum };
  const branches = at.oneOf ?? at.anyOf;
  if (branches !== undefined) return unionOf(root, branches, at.discriminator?.propertyName);
  if (Array.isArray(at.type) && at.type.length > 1) return { kind: 'json' };
  switch (typeOf(at)) {
    case 'object':
      return objectOf(at);
    case 'array':
      return at.items === undefined ? { kind: 'json' } : { kind: 'array', items: at.items };
    case 'string':
      return { kind: 'text', input: inputOf(at) };
    case 'number':
    case 'integer':
      return { kind: 'number', whole: typeOf(at) === 'integer' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'null':
      return { kind: 'null' };
    default:
      return { kind: 'json' };
  }
}

function objectOf(at: SchemaNode): FormField {
  const members = Object.entries(at.properties ?? {}).map(([name, schema]) => ({
    name,
    schema,
    required: at.required?.includes(name) === true,
  }));
  const extra = at.additionalProperties;
  return {
    kind: 'object',
    members,
    extra: extra === false ? undefined : (extra ?? (members.length === 0 || undefined)),
  };
}

/** Only branches that differ in a constant can be chosen by name. */
function unionOf(root: SchemaNode, branches: readonly SchemaNode[], named: string | undefined): FormField {
  const resolved = branches.map((branch) => resolveRef(root, branch) ?? {});
  const [first = {}] = resolved;
  const by = named ?? Object.keys(first.properties ?? {}).find((name) => resolved.every((one) => tagOf(one, name)));
  if (by === undefined) return { kind: 'json' };
  const tagged = resolved.map((schema) => ({ tag: tagOf(schema, by) ?? '', schema }));
  return tagged.some(({ tag }) => tag === '') ? { kind: 'json' } : { kind: 'union', by, branches: tagged };
}

function tagOf(schema: SchemaNode, name: string): string | undefined {
  const below = schema.properties?.[name];
  const tag = below?.const ?? (below?.enum?.length === 1 ? below.enum[0] : undefined);
  return typeof tag === 'string' ? tag : undefined;
}

function inputOf({ format, maxLength }: SchemaNode): 'text' | 'email' | 'url' | 'datetime' | 'multiline' {
  if (format === 'email') return 'email';
  if (format === 'uri') return 'url';
  if (format === 'date-time') return 'datetime';
  return format === 'multiline' || (maxLength !== undefined && maxLength > 200) ? 'multiline' : 'text';
}

export type FormPath = readonly (string | number)[];

/** The value with a new value at that place. `undefined` removes the member or item. */
export function withValueAt(value: unknown, path: FormPath, next: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return next;
  if (typeof step === 'number') {
    const items = Array.isArray(value) ? [...value] : [];
    const changed = withValueAt(items[step], rest, next);
    if (changed === undefined) items.splice(step, 1);
    else items[step] = changed;
    return items;
  }
  const members = new Map(isObject(value) ? Object.entries(value) : []);
  const changed = withValueAt(members.get(step), rest, next);
  if (changed === undefined) members.delete(step);
  else members.set(step, changed);
  return Object.fromEntries(members);
}

/** A number that is kept as it was typed is an object for JavaScript, and none for a form. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !JSON.isRawJSON(value);
}

/** The value of a number field: kept as typed where a double would not hold it (JSN-2). */
export function numberFrom(text: string): unknown {
  const trimmed = text.trim();
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed)) return undefined;
  return JSON.rawJSON(trimmed);
}

/** A first value for a new member or item. */
export function newValue(root: SchemaNode, schema: SchemaNode | true): unknown {
  return schema === true ? '' : sampleOf(root, schema);
}
