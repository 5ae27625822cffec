// Preferences that this browser keeps: theme and density, the format of times, which keys act. `public/theme.js` reads
// the same record before the first paint.

import { createStore } from './store.ts';

const STORAGE_KEY = 'svc.preferences';

export interface Preferences {
  readonly theme: 'dark' | 'light' | 'system';
  readonly density: 'comfortable' | 'compact';
  readonly time: 'relative' | 'local' | 'utc';
  /** Whether keys without Ctrl act (KEY-1). */
  readonly letters: boolean;
  readonly navClosed: boolean;
  /** Whether functions and calls of the engine itself are shown (DSH-6). */
  readonly internal: boolean;
}

const DEFAULTS: Preferences = {
  theme: 'system',
  density: 'comfortable',
  time: 'relative',
  letters: true,
  navClosed: false,
  internal: false,
};

export const preferences = createStore<Preferences>({
  ...DEFAULTS,
  ...(readKept(STORAGE_KEY) as Partial<Preferences>),
});

export function setPreference<K extends keyof Preferences>(name: K, value: Preferences[K]): void {
  preferences.set({ ...preferences.get(), [name]: value });
  keep(STORAGE_KEY, preferences.get());
  paint();
}

const prefersLight = matchMedia('(prefers-color-scheme: light)');
prefersLight.addEventListener('change', paint);
// The system's preference may have changed between `theme.js` and here, before there was a listener.
paint();

/** The theme that is on the screen now. */
export function shownTheme(): 'dark' | 'light' {
  const { theme } = preferences.get();
  if (theme !== 'system') return theme;
  return prefersLight.matches ? 'light' : 'dark';
}

function paint(): void {
  const { dataset } = document.documentElement;
  dataset.theme = shownTheme();
  dataset.density = preferences.get().density;
}

/** A value of local storage, or an empty record where none can be read. */
export function readKept(place: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(place) ?? '{}') ?? {};
  } catch {
    return {};
  }
}

/** Storage may be full or blocked. Then the value holds until the page is left. */
export function keep(place: string, value: unknown): void {
  try {
    localStorage.setItem(place, JSON.stringify(value));
  } catch {
    // Only the stored preference is lost.
  }
}
