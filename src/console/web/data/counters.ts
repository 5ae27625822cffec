// The engine's counters, once a second, for navigation and Dashboard: one topic, whose last minutes are kept.

import { useEffect } from 'react';
import type { CountersItem } from '../../api/live.ts';
import { beforeNextPaint, listen } from './live.ts';
import { Ring } from './ring.ts';
import { createStore, useStore } from './store.ts';

/** Fifteen minutes of seconds (DSH-2). */
const KEPT = 900;

export interface CountersState {
  readonly latest: CountersItem | undefined;
  /** Grows with each snapshot. */
  readonly version: number;
}

export const counterHistory = new Ring<CountersItem>(KEPT);
const state = createStore<CountersState>({ latest: undefined, version: 0 });
let users = 0;
let stop: (() => void) | undefined;

export function useCounters(): CountersState {
  useEffect(() => {
    users++;
    stop ??= listen('counters', { items: (items) => take(items as readonly CountersItem[]) });
    return () => {
      if (--users > 0) return;
      stop?.();
      stop = undefined;
    };
  }, []);
  return useStore(state);
}

/** A subscription begins with the last minutes. Those that came before the loss are already here. */
function take(items: readonly CountersItem[]): void {
  const newest = counterHistory.at(counterHistory.total - 1)?.at ?? 0;
  counterHistory.push(items.filter(({ at }) => at > newest));
  beforeNextPaint(() => {
    state.set({ latest: counterHistory.at(counterHistory.total - 1), version: counterHistory.total });
  });
}
