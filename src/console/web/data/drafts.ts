// Unsaved text that survives navigation and reload (JSN-5), in session storage, by the object that it belongs to.

import { useEffect, useState } from 'react';

export interface Draft {
  readonly text: string;
  /** Whether it was restored from an earlier visit, or changed in this one. */
  readonly isDraft: boolean;
  readonly set: (text: string) => void;
  /** The text was saved or discarded. */
  readonly drop: (to?: string) => void;
}

const SETTLE_MS = 200;

export function useDraft(object: string, initial: string): Draft {
  const place = `svc.draft.${object}`;
  const [state, setState] = useState(() => ({ place, text: read(place) ?? initial }));
  const current = state.place === place ? state : { place, text: read(place) ?? initial };
  useEffect(() => {
    const timer = setTimeout(
      () => write(current.place, current.text === initial ? undefined : current.text),
      SETTLE_MS,
    );
    return () => clearTimeout(timer);
  }, [current.place, current.text, initial]);
  return {
    text: current.text,
    isDraft: current.text !== initial,
    set: (text) => setState({ place, text }),
    drop: (to = initial) => {
      write(place, undefined);
      setState({ place, text: to });
    },
  };
}

function read(place: string): string | undefined {
  try {
    return sessionStorage.getItem(place) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(place: string, text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(place);
    else sessionStorage.setItem(place, text);
  } catch {
    // A text too long for the storage stays in the page only.
  }
}
