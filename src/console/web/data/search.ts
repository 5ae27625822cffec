// The address as the state of a page (console rule 1). A page declares its parameters once: texts outside, typed values
// inside. Invalid parts are left out, so a page never gets a value that it does not allow. Defaults are not written, so
// a plain address is the page in its default state. Values are never taken for numbers or JSON: `q=1.0` stays `1.0`.

import { useNavigate, useSearch as useRouterSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

export interface Param<T> {
  readonly fallback: T;
  /** Undefined where the text is not valid for this parameter. */
  read(texts: readonly string[]): T | undefined;
  /** Undefined: not in the address. */
  write(value: T): readonly string[];
}

type SearchShape = Readonly<Record<string, Param<never> | Param<unknown>>>;

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

export interface SearchState<S extends SearchShape> {
  readonly search: SearchValues<S>;
  /**
   * Changes some parameters. By default it adds no step to the history, as for filters. Use `push` for steps that Back
   * should undo.
   */
  readonly setSearch: (change: Partial<SearchValues<S>>, options?: { readonly push?: boolean }) => void;
}

export function usePageSearch<S extends SearchShape>(shape: S): SearchState<S> {
  const raw: Record<string, unknown> = useRouterSearch({ strict: false });
  const navigate = useNavigate();
  const search = useMemo(() => readSearch(shape, raw), [shape, raw]);
  const setSearch = useCallback<SearchState<S>['setSearch']>(
    (change, { push = false } = {}) => {
      void navigate({
        to: '.',
        search: (now: Record<string, unknown>) => ({ ...now, ...writeSearch(shape, change) }),
        replace: !push,
        resetScroll: false,
      });
    },
    [navigate, shape],
  );
  return { search, setSearch };
}
