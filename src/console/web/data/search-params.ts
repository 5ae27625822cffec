// Search parameters of addresses: texts outside, typed values inside. Defaults are not written, so a plain address is
// the page in its default state. Values are never taken for numbers or JSON: `q=1.0` stays the text `1.0`.

export interface Param<T> {
  readonly fallback: T;
  /** Undefined where the text is not valid for this parameter. */
  read(texts: readonly string[]): T | undefined;
  /** Undefined: not in the address. */
  write(value: T): readonly string[];
}

export type SearchShape = Readonly<Record<string, Param<never> | Param<unknown>>>;

export type SearchValues<S> = { readonly [K in keyof S]: S[K] extends Param<infer T> ? T : never };

export const param = {
  text(fallback = ''): Param<string> {
    return { fallback, read: ([text]) => text, write: (value) => (value === fallback ? [] : [value]) };
  },
  /** Absent is undefined: an id that is open, a time that bounds a range. */
  optional(): Param<string | undefined> {
    return { fallback: undefined, read: ([text]) => text, write: (value) => (value === undefined ? [] : [value]) };
  },
  flag(fallback = false): Param<boolean> {
    return {
      fallback,
      read: ([text]) => (text === '1' ? true : text === '0' ? false : undefined),
      write: (value) => (value === fallback ? [] : [value ? '1' : '0']),
    };
  },
  number(): Param<number | undefined> {
    return {
      fallback: undefined,
      read: ([text = '']) => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined),
      write: (value) => (value === undefined ? [] : [String(value)]),
    };
  },
  choice<const C extends string>(choices: readonly [C, ...C[]]): Param<C> {
    const [fallback] = choices;
    return {
      fallback,
      read: ([text]) => choices.find((choice) => choice === text),
      write: (value) => (value === fallback ? [] : [value]),
    };
  },
  /** Several values of one name: `sev=warn&sev=error`. */
  list<T extends string = string>(choices?: readonly T[]): Param<readonly T[]> {
    const isOne = (text: string): text is T => choices === undefined || choices.some((choice) => choice === text);
    return { fallback: [], read: (texts) => texts.filter(isOne), write: (values) => values };
  },
};

/** A new record with exactly the parameters of the shape. */
export function readSearch<S extends SearchShape>(shape: S, raw: Readonly<Record<string, unknown>>): SearchValues<S> {
  const entries = Object.entries(shape).map(([name, { fallback, read }]) => {
    const texts = textsOf(raw[name]);
    return [name, texts.length === 0 ? fallback : (read(texts) ?? fallback)];
  });
  return Object.fromEntries(entries);
}

/** What the router writes into the address. Undefined removes a parameter. */
export function writeSearch<S extends SearchShape>(
  shape: S,
  change: Partial<SearchValues<S>>,
): Record<string, string | string[] | undefined> {
  const entries = Object.entries(change).map(([name, value]) => {
    const texts = (shape[name] as Param<unknown> | undefined)?.write(value) ?? [];
    return [name, texts.length > 1 ? [...texts] : texts[0]];
  });
  return Object.fromEntries(entries);
}

/** `?a=1&b=x&b=y` → `{a: '1', b: ['x', 'y']}`. */
export function parseAddress(text: string): Record<string, string | string[]> {
  const found = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const before = found.get(name);
    found.set(name, before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]);
  }
  return Object.fromEntries(found);
}

export function printAddress(search: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const text of textsOf(value)) params.append(name, text);
  }
  // Colons, slashes and stars are legal here, and ids contain many of them.
  const text = params.toString().replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll('%2C', ',');
  return text === '' ? '' : `?${text}`;
}

function textsOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.map(String) : [String(value)];
}
