// `svc.state` of a page: the same calls, made when the code for them is there.

import type { Features } from '../sdk/features.ts';
import type { StateClient } from '../sdk/state-client.ts';
import { loadPart } from './late-parts.ts';

export const createLateState: Features['createState'] = (worker, uuid) => {
  let loaded: Promise<StateClient> | undefined;
  const state = (): Promise<StateClient> => {
    loaded ??= loadPart(async () => (await import('../sdk/state-client.ts')).createStateClient(worker, uuid));
    return loaded;
  };
  return {
    get: async (scope, key) => (await state()).get(scope, key),
    set: async (scope, key, value) => (await state()).set(scope, key, value),
    delete: async (scope, key) => (await state()).delete(scope, key),
    update: async (scope, key, ...ops) => (await state()).update(scope, key, ...ops),
    async *list(scope, options) {
      yield* (await state()).list(scope, options);
    },
    async *scopes(options) {
      yield* (await state()).scopes(options);
    },
    watch(filter, handler) {
      const watch = state().then((client) => client.watch(filter, handler));
      return {
        ready: async () => (await watch).ready(),
        // One that never began needs no end.
        stop: () => void watch.then((begun) => begun.stop()).catch(() => {}),
      };
    },
  };
};
