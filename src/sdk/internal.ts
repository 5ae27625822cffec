// The internal entry point: for the CLI, tests and benchmarks. Nothing here is promised to users.

import { nodeFeatures } from './node/features-node.ts';
import { nodePlatform } from './node/platform-node.ts';
import {
  LastingSubscription,
  type StreamSubscription,
  type SubscriptionContext,
} from './streams/stream-subscription.ts';
import type { InternalOptions } from './worker/options.ts';
import type { Platform } from './worker/platform.ts';
import type { SvcWorker } from './worker/svc-worker.ts';
import { Worker } from './worker/worker.ts';

export { nodePlatform, withTls } from './node/platform-node.ts';
export { connectionOptions, tlsAdvice } from './node/tls-node.ts';
export type { InternalOptions } from './worker/options.ts';
export type { Platform } from './worker/platform.ts';

/** A subscription without a worker, for the command line. */
export function watchStream(
  watch: Omit<SubscriptionContext<unknown>, 'platform' | 'onEnded' | 'onThrown'>,
  platform: Platform = nodePlatform,
): StreamSubscription<unknown> {
  const onThrown = (error: unknown): never => {
    throw error;
  };
  return new LastingSubscription({ ...watch, platform, onEnded: () => {}, onThrown });
}

/** `registerWorker` with internal options, on any platform. */
export function createWorker(url: string, options: InternalOptions, platform: Platform = nodePlatform): SvcWorker {
  return new Worker(url, options, platform, nodeFeatures);
}
