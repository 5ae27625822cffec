// One line of `svc doctor`. A check never throws: what it cannot find out is a finding as well.

import type { LoadedConfig } from '../../config/load.ts';

export type Level = 'ok' | 'warn' | 'fail';

export interface Finding {
  readonly name: string;
  readonly level: Level;
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string;
  /** Does the fix, for `--fix`; only where nothing can be lost by it. */
  readonly repair?: { readonly text: string; run(): Promise<void> };
}

/** What the checks of the project go by. */
export interface Project {
  readonly config: LoadedConfig;
  /** Folder that the paths in the configuration are relative to. */
  readonly startedIn: string;
  /** Whether an engine answered at the address that was asked. */
  readonly engineRuns: boolean;
}

export function ok(name: string, text: string): Finding {
  return { name, level: 'ok', text };
}

export function warn(name: string, text: string, fix: string): Finding {
  return { name, level: 'warn', text, fix };
}

export function fail(name: string, text: string, fix: string): Finding {
  return { name, level: 'fail', text, fix };
}
