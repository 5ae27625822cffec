// State, queues and streams of a page: the same calls as in the SDK, made when their code is loaded.

import { isSvcError } from '../sdk/calls/errors.ts';
import type { SvcQueue } from '../sdk/data/queue-client.ts';
import type { StateClient } from '../sdk/data/state-client.ts';
import type { StreamHandlers, StreamSubscription } from '../sdk/streams/stream-subscription.ts';
import type { StreamGroup, Streams, StreamsOptions, SvcStream } from '../sdk/streams/streams.ts';
import type { Features, StreamsOfWorker } from '../sdk/worker/features.ts';
import { loadPart } from './part-loader.ts';

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

export const createLateQueue: Features['createQueue'] = (worker, name) => {
  let loaded: Promise<SvcQueue> | undefined;
  const queue = (): Promise<SvcQueue> => {
    loaded ??= loadPart(async () => (await import('../sdk/data/queue-client.ts')).createQueueClient(worker, name));
    return loaded;
  };
  return {
    name,
    enqueue: async (...given) => (await queue()).enqueue(...given),
    job: async (...given) => (await queue()).job(...given),
    pause: async () => (await queue()).pause(),
    resume: async () => (await queue()).resume(),
    dlq: {
      list: async (...given) => (await queue()).dlq.list(...given),
      redrive: async (...given) => (await queue()).dlq.redrive(...given),
      redriveAll: async () => (await queue()).dlq.redriveAll(),
      discard: async (...given) => (await queue()).dlq.discard(...given),
      purge: async () => (await queue()).dlq.purge(),
    },
  };
};

export class LateStreams implements StreamsOfWorker {
  readonly #options: StreamsOptions;
  #streams: Promise<Streams> | undefined;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  stream(name: string): SvcStream {
    const stream = async (): Promise<SvcStream> => (await this.#load()).stream(name);
    return {
      group: <T>(groupId: string) => lateGroup<T>(async () => (await stream()).group<T>(groupId)),
      groups: async (...given) => (await stream()).groups(...given),
    };
  }

  closeAll(): void {
    this.#streams?.then((streams) => streams.closeAll(), nothing);
  }

  #load(): Promise<Streams> {
    this.#streams ??= loadPart(async () => new (await import('../sdk/streams/streams.ts')).Streams(this.#options));
    return this.#streams;
  }
}

function lateGroup<T>(group: () => Promise<StreamGroup<T>>): StreamGroup<T> {
  return {
    get: async (...given) => (await group()).get(...given),
    set: async (...given) => (await group()).set(...given),
    delete: async (...given) => (await group()).delete(...given),
    update: async (...given) => (await group()).update(...given),
    list: async (...given) => (await group()).list(...given),
    send: async (...given) => (await group()).send(...given),
    subscribe: (handlers = {}, options) =>
      new LateSubscription(async () => (await group()).subscribe(handlers, options), handlers),
  };
}

class LateSubscription<T> implements StreamSubscription<T> {
  readonly #begun: Promise<StreamSubscription<T>>;
  #subscription: StreamSubscription<T> | undefined;

  constructor(begin: () => Promise<StreamSubscription<T>>, { onError }: StreamHandlers<T>) {
    this.#begun = begin();
    this.#begun.then(
      (subscription) => {
        this.#subscription = subscription;
      },
      (error) => isSvcError(error) && onError?.(error),
    );
  }

  get items(): ReadonlyMap<string, T> {
    return this.#subscription?.items ?? new Map();
  }

  async ready(): Promise<ReadonlyMap<string, T>> {
    return (await this.#begun).ready();
  }

  close(): void {
    this.#begun.then((subscription) => subscription.close(), nothing);
  }
}

const nothing = (): void => {};
