// Short messages at the edge of the screen. A message that is repeated while it is shown is counted, not stacked
// (APP-2).

import { createStore } from '../../data/store.ts';
import type { Tone } from './status.tsx';

export interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: string;
  readonly times: number;
}

export const toasts = createStore<readonly Toast[]>([]);

const SHOWN_MAX = 3;
let nextId = 1;

export function toast({ tone, text }: Pick<Toast, 'tone' | 'text'>): void {
  toasts.set((now) => {
    const same = now.find((one) => one.text === text);
    if (same !== undefined) return now.map((one) => (one === same ? { ...one, times: one.times + 1 } : one));
    return [...now, { id: nextId++, tone, text, times: 1 }].slice(-SHOWN_MAX);
  });
}

export function dismissToast(id: number): void {
  toasts.set((now) => now.filter((one) => one.id !== id));
}
