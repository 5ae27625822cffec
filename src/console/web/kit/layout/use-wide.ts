// Whether two panels fit next to each other (APP-13).

import { useSyncExternalStore } from 'react';

const wide = matchMedia('(min-width: 1024px)');

export function useWide(): boolean {
  return useSyncExternalStore(
    (heard) => {
      wide.addEventListener('change', heard);
      return () => wide.removeEventListener('change', heard);
    },
    () => wide.matches,
  );
}
