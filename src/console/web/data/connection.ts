// Whether the engine answers, as the API calls and the live socket report it. One store for all pages (APP-1, APP-2).

import { createStore } from './store.ts';

export type Connection =
  /** No answer yet. */
  | { readonly state: 'starting' }
  | { readonly state: 'up' }
  | {
      readonly state: 'down';
      readonly sinceMs: number;
      /** Whether the engine answered before: its data are still on the screen. */
      readonly wasUp: boolean;
      /** What does not answer: the engine, or the console's own server. */
      readonly missing: 'engine' | 'console';
      readonly message: string;
    };

export const connection = createStore<Connection>({ state: 'starting' });

export function heardEngine(): void {
  if (connection.get().state !== 'up') connection.set({ state: 'up' });
}

export function lostEngine(missing: 'engine' | 'console', message: string): void {
  const now = connection.get();
  if (now.state === 'down') {
    if (now.missing !== missing || now.message !== message) connection.set({ ...now, missing, message });
    return;
  }
  connection.set({ state: 'down', sinceMs: Date.now(), wasUp: now.state === 'up', missing, message });
}
