// The actions of the palette.

import { preferences, setPreference } from '../data/preferences.ts';
import { copyText } from '../kit/inputs/clipboard.ts';
import { bindings } from './keys.ts';
import { receiptIn, traceIdIn } from './palette-match.ts';

export interface Action {
  readonly name: string;
  readonly note?: string;
  readonly run: () => void;
}

export function pastedAction(
  text: string,
  go: (to: string, search?: Record<string, string>) => void,
): Action | undefined {
  const traceId = traceIdIn(text);
  if (traceId !== undefined) return { name: `Open trace ${traceId}`, run: () => go(`/traces/${traceId}`) };
  const receipt = receiptIn(text);
  if (receipt !== undefined) return { name: `Open job ${receipt}`, run: () => go('/queues', { id: receipt }) };
  return undefined;
}

/** The page's keys that do not move through a list, and a few actions that every page has. */
export function pageActions(): readonly Action[] {
  const own = bindings
    .get()
    .filter(({ keys }) => keys.every((key) => /^[a-z]$/.test(key) && !'jkx'.includes(key)))
    .map(({ keys, name, run }) => ({ name, note: keys[0] ?? '', run: () => run(new KeyboardEvent('keydown')) }));
  const { theme } = preferences.get();
  return [
    ...own,
    { name: 'Toggle theme', run: () => setPreference('theme', theme === 'dark' ? 'light' : 'dark') },
    { name: 'Copy link', run: () => void copyText(location.href, 'link') },
    ...(['relative', 'local', 'utc'] as const).map((time) => ({
      name: `Show times ${time === 'utc' ? 'in UTC' : time}`,
      run: () => setPreference('time', time),
    })),
  ];
}
