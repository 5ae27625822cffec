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
  const storageKey = `svc.draft.${object}`;
  const [state, setState] = useState(() => ({ storageKey, text: read(storageKey) ?? initial }));
  const current = state.storageKey === storageKey ? state : { storageKey, text: read(storageKey) ?? initial };
  useEffect(() => {
    const timer = setTimeout(
      () => write(current.storageKey, current.text === initial ? undefined : current.text),
      SETTLE_MS,
    );
    return () => clearTimeout(timer);
  }, [current.storageKey, current.text, initial]);
  return {
    text: current.text,
    isDraft: current.text !== initial,
    set: (text) => setState({ storageKey, text }),
    drop: (to = initial) => {
      write(storageKey, undefined);
      setState({ storageKey, text: to });
    },
  };
}

function read(storageKey: string): string | undefined {
  try {
    return sessionStorage.getItem(storageKey) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(storageKey: string, text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, text);
  } catch {
    // A text too long for the storage stays in the page only.
  }
}
