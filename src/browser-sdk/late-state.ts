// `svc.state` of a page: the same calls, made when their code is loaded.

import type { StateClient } from '../sdk/data/state-client.ts';
import type { Features } from '../sdk/worker/features.ts';
import { loadPart } from './late-parts.ts';

export const createLateState: Features['createState'] = (worker, uuid) => {
  let loaded: Promise<StateClient> | undefined;
  const state = (): Promise<StateClient> => {
    loaded ??= loadPart(async () => (await import('../sdk/data/state-client.ts')).createStateClient(worker, uuid));
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
        // A watch that never started needs no stop.
        stop: () => void watch.then((begun) => begun.stop()).catch(() => {}),
      };
    },
  };
};
