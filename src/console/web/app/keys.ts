// Keys that act on the page. Views register their keys while they are mounted; the newest registration wins. Single
// letters never act inside inputs, and not at all where the user switched them off (KEY-1).

import { useEffect, useRef } from 'react';
import { preferences } from '../data/preferences.ts';
import { createStore } from '../data/store.ts';

export interface KeyBinding {
  /** `j`, `ArrowDown`, `mod+k` (Ctrl or ⌘), `shift+E`, `g f` (one after the other). */
  readonly keys: readonly string[];
  /** For the list of keys. */
  readonly name: string;
  readonly run: (event: KeyboardEvent) => void;
  /** Acts also while an input has the focus. */
  readonly inInputs?: boolean;
}

/** For the list that `?` shows; newest last. */
export const bindings = createStore<readonly KeyBinding[]>([]);

/** The handlers may change from render to render. Keys and names may not. */
export function useKeys(own: readonly KeyBinding[], enabled = true): void {
  const latest = useRef(own);
  latest.current = own;
  useEffect(() => {
    if (!enabled) return;
    const registered = latest.current.map((binding, at) => ({
      ...binding,
      run: (event: KeyboardEvent) => latest.current[at]?.run(event),
    }));
    bindings.set((now) => [...now, ...registered]);
    return () => bindings.set((now) => now.filter((binding) => !registered.includes(binding)));
  }, [enabled]);
}

const SEQUENCE_MS = 1_200;
let first: { readonly key: string; readonly atMs: number } | undefined;

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const pressed = nameOf(event);
  if (pressed === undefined) return;
  const typing = isTyping(event.target);
  const sequence =
    first !== undefined && event.timeStamp - first.atMs < SEQUENCE_MS ? `${first.key} ${pressed}` : undefined;
  first = undefined;
  const known = bindings.get().filter((binding) => mayAct(binding, pressed, typing, event.target));
  const named = (wanted: string | undefined): KeyBinding | undefined =>
    wanted === undefined ? undefined : known.findLast(({ keys }) => keys.includes(wanted));
  const binding = named(sequence) ?? named(pressed);
  if (binding !== undefined) {
    event.preventDefault();
    binding.run(event);
  } else if (!typing && known.some(({ keys }) => keys.some((keyName) => keyName.startsWith(`${pressed} `)))) {
    first = { key: pressed, atMs: event.timeStamp };
  }
});

function nameOf({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string | undefined {
  if (altKey || ['Control', 'Meta', 'Shift', 'Alt'].includes(key)) return undefined;
  if (ctrlKey || metaKey) return `mod+${key.toLowerCase()}`;
  return shiftKey && /^[A-Z]$/.test(key) ? `shift+${key}` : key;
}

function mayAct(binding: KeyBinding, pressed: string, typing: boolean, target: EventTarget | null): boolean {
  if (pressed.startsWith('mod+')) return binding.inInputs === true || !typing;
  if (typing) return binding.inInputs === true && pressed.length > 1;
  // Enter and the space bar belong to the control that has the focus.
  if ((pressed === 'Enter' || pressed === ' ') && isControl(target)) return false;
  return pressed.length > 1 || preferences.get().letters;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches('input:not([type=checkbox]):not([type=radio]), textarea, select');
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('button, a, summary, [role=menuitem], [role=tab]') !== null;
}
