// `svc-state`: values by scope and key, kept in a store.
//
// `state` triggers fire for changes made through this engine. If engines share a Redis, each fires for its own.

import { ChangeJobs } from '../change-jobs.ts';
import { chooseStore } from '../chosen-store.ts';
import { defineModule, HOLDS_NOTHING } from '../module.ts';
import type { KeptState } from '../shared-state.ts';
import { bridgeAdapter, kvAdapter, redisAdapter, stateDeclaration } from './config.ts';
import { type StateListeners, stateFunctions } from './functions.ts';
import { GROUP_FIELDS, StateTriggers } from './triggers.ts';

export const stateModule = defineModule({
  declaration: stateDeclaration,
  create(context, config, chosen) {
    const { store, adapter, outbox, start, stop } = chooseStore(context, {
      chosen,
      kv: kvAdapter,
      redis: redisAdapter,
      purpose: 'state',
      limits: { stateValueBytes: config.max_value_bytes },
      isWatched: false,
      bridge: {
        declaration: bridgeAdapter,
        changed: (events, cause) => {
          for (const event of events) listeners.changed(event, cause);
        },
      },
    });
    const { router, clock, logger } = context;
    const isOfThisMachine = adapter === kvAdapter.name;
    const changes = { owner: 'state', store, outbox, groupFields: GROUP_FIELDS };
    const jobs = new ChangeJobs({ ...changes, router, clock, logger });
    const { state: tap } = context.taps;
    let kept: KeptState | undefined;
    const noteListeners = (): void => kept?.note(listeners.isListening);
    const triggers = new StateTriggers(router, jobs, config.triggers_enabled, noteListeners);
    const listeners: StateListeners = {
      get isListening() {
        return triggers.isListening || tap.isWatched;
      },
      traceOf: (cause) => jobs.traceOf(cause),
      changed(event, cause) {
        triggers.changed(event, cause);
        tap.publish(event);
      },
    };
    tap.watchersChanged = noteListeners;
    return {
      ...HOLDS_NOTHING,
      functions: stateFunctions(store, listeners),
      triggerTypes: [triggers],
      async start() {
        await start();
        jobs.start();
        if (isOfThisMachine) kept = context.sharedState.share(store);
        noteListeners();
      },
      stop() {
        kept?.end();
        jobs.stop();
        stop();
      },
      health: () => ({
        status: store.trouble === undefined ? 'healthy' : 'unhealthy',
        adapter,
        details: { ...store.details, ...(store.trouble !== undefined && { trouble: store.trouble }) },
      }),
    };
  },
});
