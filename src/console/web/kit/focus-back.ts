// Where the focus was before a dialog opened, and where it goes back to (ACC-4): the primitives know that only of
// dialogs that have a trigger of their own.

import { useLayoutEffect, useRef } from 'react';

export interface FocusBack {
  readonly onOpenAutoFocus: () => void;
  readonly onCloseAutoFocus: (event: Event) => void;
}

export function useFocusBack(): FocusBack {
  const before = useRef<Element | null>(null);
  // Where something in the dialog takes the focus by itself, the primitives do not say that it opened. What a dialog
  // shows is mounted after this.
  useLayoutEffect(() => {
    before.current ??= document.activeElement;
  }, []);
  return {
    onOpenAutoFocus() {
      before.current = document.activeElement;
    },
    onCloseAutoFocus(event) {
      const { current } = before;
      // What opened it may be gone by now.
      if (!(current instanceof HTMLElement) || !current.isConnected) return;
      event.preventDefault();
      current.focus();
    },
  };
}
