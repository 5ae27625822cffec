// `svc-state`: values by scope and key, kept in a store.
//
// `state` triggers fire for what this engine's callers change. Where engines share a Redis, each fires for its own.

import { chooseStore } from '../chosen-store.ts';
import { defineModule, HOLDS_NOTHING } from '../module.ts';
import { extstoreAdapter, kvAdapter, stateDeclaration } from './config.ts';
import { stateFunctions } from './functions.ts';
import { StateTriggers } from './triggers.ts';

export const stateModule = defineModule({
  declaration: stateDeclaration,
  create(context, config, chosen) {
    const { store, adapter, start, stop } = chooseStore(context, {
      chosen,
      kv: kvAdapter,
      extstore: extstoreAdapter,
      purpose: 'state',
      limits: { stateValueBytes: config.max_value_bytes },
      isWatched: false,
    });
    const triggers = new StateTriggers(context.router, config.triggers_enabled);
    return {
      ...HOLDS_NOTHING,
      functions: stateFunctions(store, triggers),
      triggerTypes: [triggers],
      start,
      stop,
      health: () => ({
        status: store.trouble === undefined ? 'healthy' : 'unhealthy',
        adapter,
        details: { ...store.facts, ...(store.trouble !== undefined && { trouble: store.trouble }) },
      }),
    };
  },
});
