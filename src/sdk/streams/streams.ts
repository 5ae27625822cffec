// `svc.stream(name)`: a thin layer over the stream functions, and subscriptions (SDK-5).

import type { Trigger } from '../calls/call-types.ts';
import { SvcError } from '../calls/errors.ts';
import type { UpdateError, UpdateOp } from '../data/update-ops.ts';
import type { Settings } from '../worker/options.ts';
import type { Platform } from '../worker/platform.ts';
import {
  LastingSubscription,
  type StreamHandlers,
  type StreamSubscription,
  type SubscribeOptions,
} from './stream-subscription.ts';

/**
 * One stream: a set of groups.
 *
 * @example
 * import { registerWorker, type SvcStream } from 'svc-sdk';
 *
 * const chat: SvcStream = registerWorker().stream('chat');
 * console.log(await chat.groups());
 */
export interface SvcStream {
  /** One group of the stream. */
  group<T = unknown>(groupId: string): StreamGroup<T>;
  /** The groups that hold items, up to 10 000; more with `offset` and `limit`. */
  groups(page?: { readonly offset?: number; readonly limit?: number }): Promise<string[]>;
}

/**
 * One group of a stream: items that clients watch.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 *
 * const room = registerWorker().stream('chat').group<{ text: string }>('room1');
 * await room.set('m1', { text: 'hello' });
 * const watch = room.subscribe({ onChange: ({ id, data }) => console.log(id, data.text) });
 * await watch.ready();
 */
export interface StreamGroup<T> {
  /** Writes an item; returns the previous value, or null. */
  set(itemId: string, data: T): Promise<T | null>;
  /** Null if it does not exist. */
  get(itemId: string): Promise<T | null>;
  /** Deletes an item; returns its last value. */
  delete(itemId: string): Promise<T | null>;
  /** Changes an item with operations such as `ops.increment('n')`, in one step. */
  update(itemId: string, ops: readonly UpdateOp[]): Promise<StreamUpdate<T>>;
  /** All items by their ids, up to 10 000 or 4 MiB; more with `offset` and `limit`. */
  list(page?: { readonly offset?: number; readonly limit?: number }): Promise<Map<string, T>>;
  /** Sends an event to all subscribers that changes no item. */
  send(type: string, data: unknown, itemId?: string): Promise<void>;
  /** Watches the group until it is closed, and reconnects by itself. */
  subscribe(handlers?: StreamHandlers<T>, options?: SubscribeOptions): StreamSubscription<T>;
}

/**
 * The result of an update.
 *
 * @example
 * import type { StreamUpdate } from 'svc-sdk';
 *
 * export const failed = (outcome: StreamUpdate<unknown>): number => outcome.errors?.length ?? 0;
 */
export interface StreamUpdate<T> {
  /** Null if there was none. */
  readonly old_value: T | null;
  /** Null if there still is none. */
  readonly new_value: T | null;
  /** The errors of the skipped operations; absent if all were applied. */
  readonly errors?: readonly UpdateError[];
}

export interface StreamsOptions {
  readonly platform: Platform;
  readonly trigger: Trigger;
  readonly settings: Pick<Settings, 'url' | 'streamUrl' | 'log'>;
}

/** The streams of one worker, and the subscriptions that end with it. */
export class Streams {
  readonly #options: StreamsOptions;
  readonly #open = new Set<Closable>();

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  stream(name: string): SvcStream {
    return createStream(this.#options, this.#open, name);
  }

  closeAll(): void {
    for (const subscription of [...this.#open]) subscription.close();
  }
}

interface Closable {
  close(): void;
}

function createStream(options: StreamsOptions, open: Set<Closable>, stream: string): SvcStream {
  return {
    group: <T>(group: string): StreamGroup<T> => createGroup(options, open, stream, group),
    async groups(page = {}) {
      const payload = { ...page, stream_name: stream };
      const answer: unknown = await options.trigger({ function_id: 'stream::list_groups', payload });
      return listIn(answer, 'groups').map(String);
    },
  };
}

function createGroup<T>(options: StreamsOptions, open: Set<Closable>, stream: string, group: string): StreamGroup<T> {
  const { platform, trigger, settings } = options;
  const address = { stream_name: stream, group_id: group };
  // The engine returns what was stored; that it matches `T` is the user's own claim.
  const call = async (function_id: string, payload: object): Promise<Readonly<Record<string, unknown>>> =>
    recordOf(await trigger({ function_id, payload: { ...address, ...payload } }));
  return {
    set: async (item_id, data) => (await call('stream::set', { item_id, data })).old_value as T | null,
    get: async (item_id) => {
      const answer: unknown = await trigger({ function_id: 'stream::get', payload: { ...address, item_id } });
      return (valueIn(answer) ?? null) as T | null;
    },
    delete: async (item_id) => (await call('stream::delete', { item_id })).old_value as T | null,
    update: async (item_id, ops) => (await call('stream::update', { item_id, ops })) as unknown as StreamUpdate<T>,
    async list(page = {}) {
      const payload = { ...address, ...page, include_ids: true };
      const answer: unknown = await trigger({ function_id: 'stream::list', payload });
      return new Map(
        listIn(answer, 'group')
          .map(recordOf)
          .map(({ id, data }) => [String(id), data as T]),
      );
    },
    async send(type, data, itemId) {
      const id = itemId === undefined ? {} : { id: itemId };
      await trigger({ function_id: 'stream::send', payload: { ...address, ...id, type, data } });
    },
    subscribe(handlers = {}, options = {}) {
      const subscription = new LastingSubscription<T>({
        platform,
        url: options.url ?? settings.streamUrl ?? streamUrlOf(settings.url),
        stream,
        group,
        options,
        handlers,
        onEnded: (ended) => open.delete(ended),
        onThrown: (error) => settings.log('error', `a handler of stream ${stream} threw: ${String(error)}`),
      });
      open.add(subscription);
      return subscription;
    },
  };
}

/** The default address of the stream server. */
function streamUrlOf(url: string): string {
  const address = new URL(url);
  address.port = String(STREAM_PORT_DEFAULT);
  address.pathname = '/';
  address.search = '';
  return address.href;
}

const STREAM_PORT_DEFAULT = 3112;

/** Engines in drop-in mode answer with the bare list or value. */
function listIn(answer: unknown, field: string): readonly unknown[] {
  const list = Array.isArray(answer) ? answer : recordOf(answer)[field];
  if (Array.isArray(list)) return list;
  throw new SvcError('UNKNOWN', `the engine answered a list with ${JSON.stringify(answer)?.slice(0, 100)}`);
}

/** A bare value may have a field of that name; only an answer of `svc` has no other field. */
function valueIn(answer: unknown): unknown {
  const record = recordOf(answer);
  const [name, ...others] = Object.keys(record);
  return name === 'value' && others.length === 0 ? record.value : answer;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
