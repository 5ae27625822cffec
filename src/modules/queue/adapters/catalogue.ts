// The adapters of queues. The first one is the default.

import type { ChosenAdapter, ModuleContext } from '../../module.ts';
import type { QueueAdapter, QueueAdapterDefinition } from './adapter.ts';
import { builtinQueues } from './builtin.ts';
import { rabbitQueues } from './rabbit/index.ts';
import { redisQueues } from './redis/index.ts';

export const QUEUE_ADAPTERS: readonly QueueAdapterDefinition[] = [builtinQueues, redisQueues, rabbitQueues];

/** Builds the adapter that the file chooses (K2). There is no fallback. */
export function createAdapter(context: ModuleContext, chosen: ChosenAdapter | undefined): QueueAdapter {
  for (const { create } of QUEUE_ADAPTERS) {
    const adapter = create(context, chosen);
    if (adapter !== undefined) return adapter;
  }
  throw new Error(`The loader accepted an adapter of queues: ${chosen?.name}`);
}
