// What the console's own server reports about itself, with or without an engine (APP-1).

import { useQuery } from '@tanstack/react-query';
import { CONSOLE_INFO_PATH, type ConsoleInfo } from '../../../console-api/console-server.ts';
import { lostEngine } from './connection.ts';

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
