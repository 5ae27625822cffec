// `svc.stream(name)` of a page: the same calls, made when their code is loaded.

import { isSvcError } from '../sdk/calls/errors.ts';
import type { StreamHandlers, StreamSubscription } from '../sdk/streams/stream-subscription.ts';
import type { StreamGroup, Streams, StreamsParts, SvcStream } from '../sdk/streams/streams.ts';
import type { StreamsOfWorker } from '../sdk/worker/features.ts';
import { loadPart } from './late-parts.ts';

export class LateStreams implements StreamsOfWorker {
  readonly #parts: StreamsParts;
  #streams: Promise<Streams> | undefined;

  constructor(parts: StreamsParts) {
    this.#parts = parts;
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
    this.#streams ??= loadPart(async () => new (await import('../sdk/streams/streams.ts')).Streams(this.#parts));
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
