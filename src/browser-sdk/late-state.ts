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
    get: async (...given) => (await state()).get(...given),
    getWithVersion: async (...given) => (await state()).getWithVersion(...given),
    set: async (...given) => (await state()).set(...given),
    delete: async (...given) => (await state()).delete(...given),
    update: async (...given) => (await state()).update(...given),
    async *list(...given) {
      yield* (await state()).list(...given);
    },
    async *scopes(...given) {
      yield* (await state()).scopes(...given);
    },
    watch(...given) {
      const watch = state().then((client) => client.watch(...given));
      return {
        ready: async () => (await watch).ready(),
        // One that never began needs no end.
        stop: () => void watch.then((begun) => begun.stop()).catch(() => {}),
      };
    },
  };
};
