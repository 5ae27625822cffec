// The moment, once a second for everybody who shows an age. A hidden tab stands still.

import { createStore, useStore } from '../data/store.ts';

const now = createStore(Date.now());
setInterval(() => {
  if (!document.hidden) now.set(Date.now());
}, 1_000);
document.addEventListener('visibilitychange', () => now.set(Date.now()));

export function useNow(): number {
  return useStore(now);
}
