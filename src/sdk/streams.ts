// `svc.stream(name)`: streams by their functions, thin over `trigger`, and subscriptions (SDK-5).

import type { Trigger } from './call-options.ts';
import { SvcError } from './errors.ts';
import type { Settings } from './options.ts';
import type { Platform } from './platform.ts';
import {
  LastingSubscription,
  type StreamHandlers,
  type StreamSubscription,
  type SubscribeOptions,
} from './stream-subscription.ts';
import type { UpdateError, UpdateOp } from './update-ops.ts';

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
  /** One group of it. */
  group<T = unknown>(groupId: string): StreamGroup<T>;
  /** The groups that hold something, up to 10 000; more with `offset` and `limit`. */
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
  /** Writes an item; returns what was there before, null if nothing was. */
  set(itemId: string, data: T): Promise<T | null>;
  /** Null if there is none. */
  get(itemId: string): Promise<T | null>;
  /** Deletes an item; returns what was there. */
  delete(itemId: string): Promise<T | null>;
  /** Changes an item by operations such as `ops.increment('n')`, in one step. */
  update(itemId: string, ops: readonly UpdateOp[]): Promise<StreamUpdate<T>>;
  /** All items by their ids, up to 10 000 or 4 MiB; more with `offset` and `limit`. */
  list(page?: { readonly offset?: number; readonly limit?: number }): Promise<Map<string, T>>;
  /** Tells all subscribers something that changes no item. */
  send(type: string, data: unknown, itemId?: string): Promise<void>;
  /** Watches the group until it is closed; recovers by itself. */
  subscribe(handlers?: StreamHandlers<T>, options?: SubscribeOptions): StreamSubscription<T>;
}

/**
 * The outcome of an update.
 *
 * @example
 * import type { StreamUpdate } from 'svc-sdk';
 *
 * export const failed = (outcome: StreamUpdate<unknown>): number => outcome.errors?.length ?? 0;
 */
export interface StreamUpdate<T> {
  /** Null when there was none. */
  readonly old_value: T | null;
  /** Null when there still is none. */
  readonly new_value: T | null;
  /** Of the operations that were skipped; absent when all applied. */
  readonly errors?: readonly UpdateError[];
}

export interface StreamsParts {
  readonly platform: Platform;
  readonly trigger: Trigger;
  readonly settings: Pick<Settings, 'url' | 'streamUrl' | 'log'>;
}

/** The streams of one worker, and the subscriptions that have to end with it. */
export class Streams {
  readonly #parts: StreamsParts;
  readonly #open = new Set<Closable>();

  constructor(parts: StreamsParts) {
    this.#parts = parts;
  }

  stream(name: string): SvcStream {
    return createStream(this.#parts, this.#open, name);
  }

  closeAll(): void {
    for (const subscription of [...this.#open]) subscription.close();
  }
}

interface Closable {
  close(): void;
}

function createStream(parts: StreamsParts, open: Set<Closable>, stream: string): SvcStream {
  return {
    group: <T>(group: string): StreamGroup<T> => createGroup(parts, open, stream, group),
    async groups(page = {}) {
      const payload = { ...page, stream_name: stream };
      const answer: unknown = await parts.trigger({ function_id: 'stream::list_groups', payload });
      return listIn(answer, 'groups').map(String);
    },
  };
}

function createGroup<T>(parts: StreamsParts, open: Set<Closable>, stream: string, group: string): StreamGroup<T> {
  const { platform, trigger, settings } = parts;
  const place = { stream_name: stream, group_id: group };
  // What the engine gives back is what was stored; that it fits `T` is the user's own claim.
  const call = async (function_id: string, payload: object): Promise<Readonly<Record<string, unknown>>> =>
    recordOf(await trigger({ function_id, payload: { ...place, ...payload } }));
  return {
    set: async (item_id, data) => (await call('stream::set', { item_id, data })).old_value as T | null,
    get: async (item_id) => {
      const answer: unknown = await trigger({ function_id: 'stream::get', payload: { ...place, item_id } });
      return (valueIn(answer) ?? null) as T | null;
    },
    delete: async (item_id) => (await call('stream::delete', { item_id })).old_value as T | null,
    update: async (item_id, ops) => (await call('stream::update', { item_id, ops })) as unknown as StreamUpdate<T>,
    async list(page = {}) {
      const payload = { ...place, ...page, include_ids: true };
      const answer: unknown = await trigger({ function_id: 'stream::list', payload });
      return new Map(
        listIn(answer, 'group')
          .map(recordOf)
          .map(({ id, data }) => [String(id), data as T]),
      );
    },
    async send(type, data, itemId) {
      const id = itemId === undefined ? {} : { id: itemId };
      await trigger({ function_id: 'stream::send', payload: { ...place, ...id, type, data } });
    },
    subscribe(handlers = {}, options = {}) {
      const subscription = new LastingSubscription<T>({
        platform,
        url: options.url ?? settings.streamUrl ?? besideEngine(settings.url),
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

/** Where the stream server is unless somebody moved it. */
function besideEngine(url: string): string {
  const address = new URL(url);
  address.port = String(STREAM_PORT_DEFAULT);
  address.pathname = '/';
  address.search = '';
  return address.href;
}

const STREAM_PORT_DEFAULT = 3112;

/** Drop-in engines answer lists and values bare. */
function listIn(answer: unknown, field: string): readonly unknown[] {
  const list = Array.isArray(answer) ? answer : recordOf(answer)[field];
  if (Array.isArray(list)) return list;
  throw new SvcError('UNKNOWN', `the engine answered a list with ${JSON.stringify(answer)?.slice(0, 100)}`);
}

/** A bare value may have a field of that name; only an answer of ours has it alone. */
function valueIn(answer: unknown): unknown {
  const record = recordOf(answer);
  const [name, ...others] = Object.keys(record);
  return name === 'value' && others.length === 0 ? record.value : answer;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
