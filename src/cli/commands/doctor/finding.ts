// One line of `svc doctor`. A check never throws: a failure to check is a finding, too.

import type { LoadedConfig } from '../../../config/load.ts';

export type Level = 'ok' | 'warn' | 'fail';

export interface Finding {
  readonly name: string;
  readonly level: Level;
  readonly text: string;
  /** How to fix it. */
  readonly fix?: string;
  /** Applies the fix, for `--fix`; only set for a fix that cannot lose anything. */
  readonly repair?: { readonly text: string; run(): Promise<void> };
}

/** Input of the checks of the project. */
export interface Project {
  readonly config: LoadedConfig;
  /** Base folder for relative paths in the configuration. */
  readonly startedIn: string;
  /** Whether an engine answered. */
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
