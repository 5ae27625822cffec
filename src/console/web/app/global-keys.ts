// Keys that act on every page (console 3.1).

import { useNavigate } from '@tanstack/react-router';
import { PAGES } from '../pages/list.ts';
import { type KeyBinding, useKeys } from './keys.ts';

export function useGlobalKeys({
  openPalette,
  openKeyList,
}: {
  readonly openPalette: () => void;
  readonly openKeyList: () => void;
}): void {
  const navigate = useNavigate();
  const pages = PAGES.map(
    ({ path, name, key }): KeyBinding => ({
      keys: [`g ${key}`],
      name: `Go to ${name}`,
      run: () => void navigate({ to: path }),
    }),
  );
  useKeys([
    { keys: ['mod+k'], name: 'Command palette', inInputs: true, run: openPalette },
    { keys: ['?'], name: 'List of keys', run: openKeyList },
    ...pages,
  ]);
}
