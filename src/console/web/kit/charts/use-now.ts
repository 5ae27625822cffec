// The current time, updated once a second for all components that show an age. It does not run in a hidden tab.

import { createStore, useStore } from '../../data/store.ts';

const now = createStore(Date.now());
setInterval(() => {
  if (!document.hidden) now.set(Date.now());
}, 1_000);
document.addEventListener('visibilitychange', () => now.set(Date.now()));

export function useNow(): number {
  return useStore(now);
}
