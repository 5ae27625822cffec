// The second door: for the CLI, tests and benchmarks. Nothing here is promised to users.

import type { InternalOptions } from './options.ts';
import type { Platform } from './platform.ts';
import { nodePlatform } from './platform-node.ts';
import type { SvcWorker } from './svc-worker.ts';
import { Worker } from './worker.ts';

export type { InternalOptions } from './options.ts';
export type { Platform } from './platform.ts';
export { nodePlatform } from './platform-node.ts';

/** `registerWorker` with the options users do not see, on any platform. */
export function createWorker(url: string, options: InternalOptions, platform: Platform = nodePlatform): SvcWorker {
  return new Worker(url, options, platform);
}
