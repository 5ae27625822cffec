// Which rows of a table are selected (APP-11): by key, so that a row that moves stays selected. Shift selects a range
// from the last one. `flip` adds or removes one entry of any set.

import { useMemo, useRef, useState } from 'react';

/** Adds the entry where it was missing, removes it where it was present. */
export function flip<T>(all: ReadonlySet<T>, one: T): ReadonlySet<T> {
  const next = new Set(all);
  if (!next.delete(one)) next.add(one);
  return next;
}

/** The same for a list, as addresses have it. A new entry is added at the end. */
export function flipIn<T>(all: readonly T[], one: T): readonly T[] {
  return all.includes(one) ? all.filter((other) => other !== one) : [...all, one];
}

export interface Selection {
  readonly keys: ReadonlySet<string>;
  /** Everything that matches the filter, including rows that are not loaded. */
  readonly all: boolean;
  readonly toggle: (key: string, range: boolean) => void;
  readonly selectLoaded: () => void;
  readonly selectAll: () => void;
  readonly clear: () => void;
}

export function useSelection(loaded: readonly string[]): Selection {
  const [state, setState] = useState<{ keys: ReadonlySet<string>; all: boolean }>({ keys: new Set(), all: false });
  const anchor = useRef<string | undefined>(undefined);
  return useMemo(
    () => ({
      ...state,
      toggle(key, range) {
        const keys = new Set(state.keys);
        const chosen = range && anchor.current !== undefined ? between(loaded, anchor.current, key) : [key];
        const adds = !keys.has(key);
        for (const one of chosen) {
          if (adds) keys.add(one);
          else keys.delete(one);
        }
        anchor.current = key;
        setState({ keys, all: false });
      },
      selectLoaded: () => setState({ keys: new Set(loaded), all: false }),
      selectAll: () => setState({ keys: new Set(loaded), all: true }),
      clear: () => setState({ keys: new Set(), all: false }),
    }),
    [state, loaded],
  );
}

function between(keys: readonly string[], one: string, other: string): readonly string[] {
  const [from, to] = [keys.indexOf(one), keys.indexOf(other)].sort((a, b) => a - b);
  return from === undefined || to === undefined || from < 0 ? [other] : keys.slice(from, to + 1);
}
