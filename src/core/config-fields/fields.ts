// The language in which all configuration is declared. A schema is plain data: `fields-check.ts` turns a value from a
// file into the typed one, `fields-describe.ts` puts a schema into words, `fields-redact.ts` hides secrets. The
// TypeScript type of the checked value follows from the declaration (`ValueOf`).

/** Only a name for the type checker: no schema carries a value at run time. */
declare const VALUE: unique symbol;

export type Schema<T> = SchemaKind & SchemaDetails & { readonly [VALUE]?: T };

/** A map with declared keys; the form in which every module and adapter declares its `config`. */
export type FieldsSchema<T> = FieldsKind & SchemaDetails & { readonly [VALUE]?: T };

/** A key that exists but may not be used: it never appears among the values. */
export type RefusedSchema = RefusedKind & SchemaDetails & { readonly [VALUE]?: undefined };

/** The type of the checked value. */
export type ValueOf<S> = S extends { readonly [VALUE]?: infer T } ? T : never;

export type SchemaKind =
  | { readonly kind: 'text'; readonly bytesMin: number; readonly bytesMax: number; readonly shown: Shown }
  | { readonly kind: 'integer' | 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'oneOf'; readonly words: readonly string[] }
  | { readonly kind: 'listOf' | 'mapOf'; readonly item: Schema<unknown> }
  | { readonly kind: 'either'; readonly options: readonly Schema<unknown>[] }
  | { readonly kind: 'optional'; readonly inner: Schema<unknown> }
  | { readonly kind: 'anything' }
  | FieldsKind
  | RefusedKind;

/**
 * How much of a text is shown wherever a configuration is displayed. Text of any kind that is an address loses user
 * info, query and fragment; `origin` keeps only the origin of an address, because its path is the secret; `nothing`
 * keeps none.
 */
export type Shown = 'text' | 'address' | 'origin' | 'nothing';

interface FieldsKind {
  readonly kind: 'fields';
  readonly fields: ReadonlyMap<string, Schema<unknown>>;
}

interface RefusedKind {
  readonly kind: 'refused';
  readonly reason: string;
}

interface SchemaDetails {
  readonly help: string | undefined;
  /** Used when the key is absent; undefined: the key is required. */
  readonly fallback: unknown;
}

interface Options<T> {
  /** One line for the user. */
  readonly help?: string;
  readonly default?: T;
}

type Shape = Readonly<Record<string, Schema<unknown>>>;

type FieldValues<S extends Shape> = {
  readonly [K in keyof S as S[K] extends RefusedSchema ? never : K]: ValueOf<S[K]>;
};

/** A map with exactly these keys. If it is absent it counts as empty, so that the defaults inside apply. */
export function fields<S extends Shape>(shape: S, options: { help?: string } = {}): FieldsSchema<FieldValues<S>> {
  return { kind: 'fields', fields: new Map(Object.entries(shape)), help: options.help, fallback: undefined };
}

/** Empty text is refused unless `bytesMin: 0` asks for it: an empty host or name is hardly ever meant. */
export function text(options: TextOptions = {}): Schema<string> {
  return textShown('text', options);
}

/** Text that is shown nowhere: a token, a password, the value of a header. */
export function secretText(options: TextOptions = {}): Schema<string> {
  return textShown('nothing', options);
}

/** An address that may carry a user and a password, or a key in its query. */
export function url(options: TextOptions = {}): Schema<string> {
  return textShown('address', options);
}

/** An address that is itself a secret, such as a webhook's: anyone who knows its path may use it. */
export function secretUrl(options: TextOptions = {}): Schema<string> {
  return textShown('origin', options);
}

interface TextOptions extends Options<string> {
  readonly bytesMin?: number;
  readonly bytesMax?: number;
}

function textShown(shown: Shown, options: TextOptions): Schema<string> {
  const { bytesMin = 1, bytesMax = Number.POSITIVE_INFINITY } = options;
  return { kind: 'text', bytesMin, bytesMax, shown, ...detailsOf(options) };
}

interface Range {
  readonly min?: number;
  readonly max?: number;
}

export function integer(options: Options<number> & Range = {}): Schema<number> {
  return { kind: 'integer', ...rangeOf(options), ...detailsOf(options) };
}

export function number(options: Options<number> & Range = {}): Schema<number> {
  return { kind: 'number', ...rangeOf(options), ...detailsOf(options) };
}

export function flag(options: Options<boolean> = {}): Schema<boolean> {
  return { kind: 'flag', ...detailsOf(options) };
}

export function oneOf<const W extends string>(words: readonly W[], options: Options<NoInfer<W>> = {}): Schema<W> {
  return { kind: 'oneOf', words, ...detailsOf(options) };
}

export function listOf<T>(item: Schema<T>, options: Options<readonly T[]> = {}): Schema<readonly T[]> {
  return { kind: 'listOf', item, ...detailsOf(options) };
}

/** A map whose keys are the user's own names. Its value has no prototype, so that no name can reach one (X19). */
export function mapOf<T>(
  item: Schema<T>,
  options: Options<Readonly<Record<string, T>>> = {},
): Schema<Readonly<Record<string, T>>> {
  return { kind: 'mapOf', item, ...detailsOf(options) };
}

/** One of several kinds, distinguished by the YAML type of the value: text, number, flag, list or map. */
export function either<A, B>(one: Schema<A>, other: Schema<B>, options: Options<A | B> = {}): Schema<A | B> {
  return { kind: 'either', options: [one, other], ...detailsOf(options) };
}

/** Optional; left out, it gives undefined. `help`: for a map, what its presence means. */
export function optional<T>(inner: Schema<T>, help = inner.help): Schema<T | undefined> {
  return { kind: 'optional', inner, help, fallback: undefined };
}

/** A map whose presence has a meaning of its own. */
export function isOptionalGroup(schema: SchemaKind): boolean {
  return schema.kind === 'optional' && schema.inner.kind === 'fields';
}

/** Passed on unread, because another schema will check it. */
export function anything(): Schema<unknown> {
  return { kind: 'anything', help: undefined, fallback: undefined };
}

/** A key that is refused with a reason instead of being unknown. */
export function refused(reason: string): RefusedSchema {
  return { kind: 'refused', reason, help: undefined, fallback: undefined };
}

function detailsOf(options: Options<unknown>): SchemaDetails {
  return { help: options.help, fallback: options.default };
}

function rangeOf(range: Range): Required<Range> {
  return { min: range.min ?? Number.NEGATIVE_INFINITY, max: range.max ?? Number.POSITIVE_INFINITY };
}
