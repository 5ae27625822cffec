// A schema in words: for messages, for `svc help` and for listings.

import { isOptionalGroup, type Schema, type SchemaKind } from './fields.ts';

export interface FieldDescription {
  /** `limits.engine.in_flight`; `balance.*` and `allowed_hosts[]` stand for every key and every item. */
  readonly path: string;
  readonly expected: string;
  readonly help: string | undefined;
  readonly isRequired: boolean;
  /** The default value; undefined: there is none. */
  readonly fallback: unknown;
}

/** Every field that can be written below this schema, in the order of declaration. */
export function listFields(schema: Schema<unknown>, path = ''): readonly FieldDescription[] {
  switch (schema.kind) {
    case 'refused':
      return [];
    case 'optional':
      return [
        ...groupItself(schema, path),
        ...listFields(schema.inner, path).map((field) =>
          field.path === path ? { ...field, isRequired: false } : field,
        ),
      ];
    case 'fields':
      return [...schema.fields].flatMap(([key, field]) => listFields(field, path === '' ? key : `${path}.${key}`));
    case 'listOf':
      return [describeField(schema, path), ...groupsBelow(schema.item, `${path}[]`)];
    case 'mapOf':
      return [describeField(schema, path), ...groupsBelow(schema.item, `${path}.*`)];
    default:
      return [describeField(schema, path)];
  }
}

/** What a value of this kind may be, as the end of the sentence "Must be …". */
export function describeSchema(schema: SchemaKind): string {
  switch (schema.kind) {
    case 'text':
      return describeText(schema.bytesMin, schema.bytesMax);
    case 'integer':
      return `an integer${describeRange(schema.min, schema.max)}`;
    case 'number':
      return `a number${describeRange(schema.min, schema.max)}`;
    case 'flag':
      return 'true or false';
    case 'oneOf':
      return schema.words.map((word) => `'${word}'`).join(' or ');
    case 'listOf':
      return 'a list';
    case 'mapOf':
    case 'fields':
      return 'a map';
    case 'either':
      return schema.options.map(describeSchema).join(' or ');
    case 'optional':
      return describeSchema(schema.inner);
    case 'anything':
      return 'any value';
    case 'refused':
      return 'absent';
  }
}

/** Inside an optional group, requirements and defaults hold only where the group is given. */
function groupItself(schema: Schema<unknown>, path: string): readonly FieldDescription[] {
  if (!isOptionalGroup(schema) || schema.help === undefined) return [];
  return [{ ...describeField(schema, path), isRequired: false }];
}

function describeField(schema: Schema<unknown>, path: string): FieldDescription {
  const { help, fallback } = schema;
  return { path, expected: describeSchema(schema), help, isRequired: fallback === undefined, fallback };
}

/** The list's line describes scalar items already; only fields of items need lines of their own. */
function groupsBelow(item: Schema<unknown>, path: string): readonly FieldDescription[] {
  return item.kind === 'fields' ? listFields(item, path) : [];
}

function describeText(bytesMin: number, bytesMax: number): string {
  const hasMax = bytesMax !== Number.POSITIVE_INFINITY;
  if (bytesMin > 1 && hasMax) return `text of ${bytesMin} to ${bytesMax} bytes`;
  if (bytesMin > 1) return `text of at least ${bytesMin} bytes`;
  const kind = bytesMin === 1 ? 'non-empty text' : 'text';
  return hasMax ? `${kind} of at most ${bytesMax} bytes` : kind;
}

function describeRange(min: number, max: number): string {
  if (min === Number.NEGATIVE_INFINITY && max === Number.POSITIVE_INFINITY) return '';
  if (max === Number.POSITIVE_INFINITY) return ` of at least ${min}`;
  if (min === Number.NEGATIVE_INFINITY) return ` of at most ${max}`;
  return ` from ${min} to ${max}`;
}
