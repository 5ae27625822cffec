// Whether the engine answers, as the API calls and the live socket report it, and what the console's own server reports
// about itself, with or without an engine (APP-1, APP-2). One store for all pages.

import { useQuery } from '@tanstack/react-query';
import { CONSOLE_INFO_PATH, type ConsoleInfo } from '../../api/console-server.ts';
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

export function useConsoleInfo(): ConsoleInfo | undefined {
  return useQuery({ queryKey: ['console-info'], queryFn: readConsoleInfo, refetchInterval: 5_000 }).data;
}

async function readConsoleInfo({ signal }: { signal: AbortSignal }): Promise<ConsoleInfo> {
  try {
    const response = await fetch(CONSOLE_INFO_PATH, { signal });
    return await response.json();
  } catch (thrown) {
    if (!signal.aborted) lostEngine('console', 'The console server does not answer');
    throw thrown;
  }
}

/** Whether this console is read-only (APP-5). */
export function useReadOnly(): boolean {
  return useConsoleInfo()?.read_only ?? false;
}
