// How the engine starts further routers, where the configuration has several threads. With one router none of the code
// of the others is loaded.

import type { RoutersOfProcess } from '../../cluster/identity.ts';
import type { Logger } from '../../effects/logger.ts';
import type { ListenerAddress } from '../../modules/module.ts';
import type { Taps } from '../../modules/taps.ts';
import type { DrainOfOthers } from '../drain.ts';
import type { ModulesElsewhere } from '../module-set.ts';
import type { RouterThreadsOptions } from './router-threads.ts';

/** How many routers the process can have: elsewhere no two threads can listen on one port. */
export function routersOf(threads: number): number {
  return process.platform === 'linux' ? threads : 1;
}

export interface FurtherRouters extends ModulesElsewhere {
  /** Where the process has several: its first router as a member of a cluster. */
  readonly ofProcess?: RoutersOfProcess;
  /** Resolves with the reason when one of them has ended. */
  readonly failed: Promise<string>;
  /** Starts the modules of the first router, and then has the others listen where it listens. */
  start(startModules: () => Promise<void>, listeners: () => readonly ListenerAddress[]): Promise<void>;
  /** They take no new work, and their calls have that time to end. */
  beginDrain(timeoutMs: number): void;
  readonly drain: DrainOfOthers | undefined;
  close(): Promise<void>;
}

interface FurtherParts extends Omit<RouterThreadsOptions, 'batches' | 'fail' | 'console'> {
  readonly taps: Taps;
  readonly logger: Logger;
}

export async function startFurtherRouters({ taps, logger, ...parts }: FurtherParts): Promise<FurtherRouters> {
  if (parts.threads === 1) return NONE;
  const { RouterThreads } = await import('./router-threads.ts');
  let fail = (_reason: string): void => {};
  const failed = new Promise<string>((resolve) => {
    fail = resolve;
  });
  const console = logger.console ?? { level: 'warn', format: 'default' };
  const further = new RouterThreads({ ...parts, console, batches: taps.batches, fail });
  parts.context.flushRouters = () => further.flush();
  taps.noteGaugesOfOthers = (gauges) => further.noteGauges(gauges);
  return {
    failed,
    ofProcess: further.ofProcess,
    async start(startModules, listeners) {
      try {
        await startModules();
        await further.listen(listeners);
      } catch (error) {
        await further.close();
        throw error;
      }
    },
    reconfigure: (key, config) => further.reconfigure(key, config),
    add: (modules, countBefore) => further.add(modules, countBefore),
    remove: (key) => further.remove(key),
    flush: () => further.flush(),
    beginDrain: (timeoutMs) => further.beginDrain(timeoutMs),
    drain: further.drain,
    close: () => further.close(),
  };
}

const NONE: FurtherRouters = {
  failed: new Promise(() => {}),
  start: (startModules) => startModules(),
  reconfigure: async () => ({ ok: true, commit: () => {} }),
  add: async () => {},
  remove: () => {},
  flush: async () => {},
  beginDrain: () => {},
  drain: undefined,
  close: async () => {},
};
