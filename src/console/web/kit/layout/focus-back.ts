// Returns the focus to where it was before a dialog opened (ACC-4). The primitives do this only for dialogs with their
// own trigger.

import { useLayoutEffect, useRef } from 'react';

export interface FocusBack {
  readonly onOpenAutoFocus: () => void;
  readonly onCloseAutoFocus: (event: Event) => void;
}

export function useFocusBack(): FocusBack {
  const before = useRef<Element | null>(null);
  // If an element in the dialog takes the focus by itself, the primitives do not report the opening. The content of a
  // dialog is mounted after this.
  useLayoutEffect(() => {
    before.current ??= document.activeElement;
  }, []);
  return {
    onOpenAutoFocus() {
      before.current = document.activeElement;
    },
    onCloseAutoFocus(event) {
      const { current } = before;
      // The element that opened it may be gone by now.
      if (!(current instanceof HTMLElement) || !current.isConnected) return;
      event.preventDefault();
      current.focus();
    },
  };
}
