// The second door: for the CLI, tests and benchmarks. Nothing here is promised to users.

import { nodeFeatures } from './features-node.ts';
import type { InternalOptions } from './options.ts';
import type { Platform } from './platform.ts';
import { nodePlatform } from './platform-node.ts';
import { LastingSubscription, type StreamSubscription, type SubscriptionParts } from './stream-subscription.ts';
import type { SvcWorker } from './svc-worker.ts';
import { Worker } from './worker.ts';

export type { InternalOptions } from './options.ts';
export type { Platform } from './platform.ts';
export { nodePlatform } from './platform-node.ts';

/** A subscription without a worker, for the command line. */
export function watchStream(
  watch: Omit<SubscriptionParts<unknown>, 'platform' | 'onEnded' | 'onThrown'>,
  platform: Platform = nodePlatform,
): StreamSubscription<unknown> {
  const onThrown = (error: unknown): never => {
    throw error;
  };
  return new LastingSubscription({ ...watch, platform, onEnded: () => {}, onThrown });
}

/** `registerWorker` with the options users do not see, on any platform. */
export function createWorker(url: string, options: InternalOptions, platform: Platform = nodePlatform): SvcWorker {
  return new Worker(url, options, platform, nodeFeatures);
}
