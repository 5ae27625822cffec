// Turns a value from a file into the typed value with its defaults, or into the list of everything wrong with it.

import { isOptionalGroup, type Schema } from './fields.ts';
import { describeSchema } from './fields-describe.ts';
import { nearestWords } from './nearest.ts';
import { isSecretKey, redactUrl } from './redaction.ts';

export type Path = readonly (string | number)[];

export interface FieldProblem {
  readonly path: Path;
  /** Whether to point at the key (unknown, refused, missing) or at the value. */
  readonly at: 'key' | 'value';
  readonly message: string;
  /** The value may be shown nowhere: neither in the message nor next to it. */
  readonly isHidden?: boolean;
}

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

interface CheckOptions {
  /** The path of the value; problems carry it in front of their own path. */
  readonly path?: Path;
  /** Whether the value at a path must not appear in a message. Keys with secret names never do. */
  readonly isHidden?: (path: Path) => boolean;
}

export function checkValue<T>(schema: Schema<T>, value: unknown, options: CheckOptions = {}): Checked<T> {
  const problems: FieldProblem[] = [];
  const checked = read(schema, value, options.path ?? [], { problems, isHidden: options.isHidden ?? (() => false) });
  // The constructors in fields.ts tie kinds to types, and read() has just compared the value with the kinds.
  return problems.length === 0 ? { ok: true, value: checked as T } : { ok: false, problems };
}

/** Text of the user inside a sentence: in quotes, shortened, and unable to control a terminal. */
export function quote(text: string): string {
  const shown = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\u{FFFD}');
  return shown.length > QUOTED_CHARS_MAX ? `'${shown.slice(0, QUOTED_CHARS_MAX)}…'` : `'${shown}'`;
}

/** Whether a key on the way has a secret name. */
export function isSecretPath(path: Path): boolean {
  return path.some((key) => typeof key === 'string' && isSecretKey(key));
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const QUOTED_CHARS_MAX = 60;

interface Context {
  readonly problems: FieldProblem[];
  readonly isHidden: (path: Path) => boolean;
}

/** The typed value. After a problem the result is meaningless, and checkValue discards it. */
function read(schema: Schema<unknown>, value: unknown, path: Path, context: Context): unknown {
  switch (schema.kind) {
    case 'anything':
      return value;
    case 'refused':
      context.problems.push({ path, at: 'key', message: schema.reason });
      return undefined;
    case 'optional':
      return read(schema.inner, value, path, context);
    case 'either':
      return readEither(schema, schema.options, value, path, context);
    case 'fields':
      return isMap(value) ? readFields(schema.fields, value, path, context) : refuse(schema, value, path, context);
    case 'mapOf':
      return isMap(value) ? readMap(schema.item, value, path, context) : refuse(schema, value, path, context);
    case 'listOf':
      if (!Array.isArray(value)) return refuse(schema, value, path, context);
      return value.map((item: unknown, index) => read(schema.item, item, [...path, index], context));
    default:
      return isWithin(schema, value) ? value : refuse(schema, value, path, context);
  }
}

function isWithin(schema: Schema<unknown>, value: unknown): boolean {
  switch (schema.kind) {
    case 'text': {
      if (typeof value !== 'string') return false;
      const sizeBytes = Buffer.byteLength(value);
      return sizeBytes >= schema.bytesMin && sizeBytes <= schema.bytesMax;
    }
    case 'oneOf':
      return typeof value === 'string' && schema.words.includes(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isSafeInteger(value) && isInRange(value, schema.min, schema.max);
    case 'number':
      return Number.isFinite(value) && isInRange(value, schema.min, schema.max);
    case 'either':
      return schema.options.some((option) => isWithin(option, value));
    default:
      return false;
  }
}

function isInRange(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && value >= min && value <= max;
}

function readFields(
  fields: ReadonlyMap<string, Schema<unknown>>,
  given: Readonly<Record<string, unknown>>,
  path: Path,
  context: Context,
): Record<string, unknown> {
  for (const key of Object.keys(given)) {
    if (!fields.has(key)) context.problems.push({ path: [...path, key], at: 'key', message: unknownKey(key, fields) });
  }
  const values: Record<string, unknown> = Object.create(null);
  for (const [key, field] of fields) {
    const value = Object.hasOwn(given, key) ? given[key] : undefined;
    if (!isAbsent(field, value)) values[key] = read(field, value, [...path, key], context);
    else if (field.kind !== 'refused') values[key] = readAbsent(field, [...path, key], context);
  }
  return values;
}

/**
 * An empty value (`port:`, or a placeholder that resolved to nothing) means "not given". Not so for an optional group:
 * there the mere presence has a meaning, and guessing could switch a protection off.
 */
function isAbsent(field: Schema<unknown>, value: unknown): boolean {
  if (value !== null) return value === undefined;
  if (field.kind === 'optional') return !isOptionalGroup(field);
  return field.kind === 'fields' || field.fallback !== undefined;
}

function readAbsent(field: Schema<unknown>, path: Path, context: Context): unknown {
  if (field.kind === 'optional' || field.fallback !== undefined) return field.fallback;
  if (field.kind === 'fields') return readFields(field.fields, {}, path, context);
  const message = `Missing ${quote(String(path.at(-1)))}: must be ${describeSchema(field)}.`;
  context.problems.push({ path, at: 'key', message });
  return undefined;
}

function readMap(
  item: Schema<unknown>,
  given: Readonly<Record<string, unknown>>,
  path: Path,
  context: Context,
): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(given)) values[key] = read(item, value, [...path, key], context);
  return values;
}

function readEither(
  schema: Schema<unknown>,
  options: readonly Schema<unknown>[],
  value: unknown,
  path: Path,
  context: Context,
): unknown {
  // A map with problems inside gets the messages about its inside; a scalar gets the whole choice.
  const meant = options.find((option) =>
    isContainer(value) ? takesContainer(option, value) : isWithin(option, value),
  );
  return meant === undefined ? refuse(schema, value, path, context) : read(meant, value, path, context);
}

function isContainer(value: unknown): boolean {
  return Array.isArray(value) || isMap(value);
}

function takesContainer(schema: Schema<unknown>, value: unknown): boolean {
  return Array.isArray(value) ? schema.kind === 'listOf' : schema.kind === 'mapOf' || schema.kind === 'fields';
}

function refuse(schema: Schema<unknown>, value: unknown, path: Path, { problems, isHidden }: Context): void {
  const isSecret = schema.kind === 'text' && (schema.shown === 'nothing' || schema.shown === 'origin');
  const hidden = isSecret || isSecretPath(path) || isHidden(path);
  const found = `Must be ${describeSchema(schema)}, found ${describeFound(value, hidden)}.`;
  const message = found + adviseQuotes(schema, value);
  problems.push({ path, at: 'value', message, isHidden: hidden });
}

function describeFound(value: unknown, isHidden: boolean): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      if (isHidden) return `text of ${Buffer.byteLength(value)} bytes`;
      return `the text ${quote(value.includes('://') ? redactUrl(value) : value)}`;
    case 'number':
      return isHidden ? 'a number' : `the number ${value}`;
    case 'boolean':
      return isHidden ? 'true or false' : `${value}`;
    default:
      return 'a map';
  }
}

/** By far the most frequent mistake: YAML reads `123` as a number and `'123'` as text. */
function adviseQuotes(schema: Schema<unknown>, value: unknown): string {
  if (schema.kind === 'text' && (typeof value === 'number' || typeof value === 'boolean')) {
    return ' Put quotes around it.';
  }
  if (typeof value !== 'string') return '';
  const isNumberInQuotes = /^[-+]?[0-9]+(\.[0-9]+)?$/.test(value) && isWithin(schema, Number(value));
  const isFlagInQuotes = /^(true|false)$/.test(value) && isWithin(schema, value === 'true');
  return isNumberInQuotes || isFlagInQuotes ? ' Remove the quotes around it.' : '';
}

function unknownKey(key: string, fields: ReadonlyMap<string, Schema<unknown>>): string {
  const known = [...fields].filter(([, field]) => field.kind !== 'refused').map(([name]) => name);
  if (known.length === 0) return `Unknown key ${quote(key)}. No key is known here.`;
  const [meant] = nearestWords(key, known);
  const advice = meant === undefined ? `Known keys: ${known.join(', ')}.` : `Did you mean '${meant}'?`;
  return `Unknown key ${quote(key)}. ${advice}`;
}
