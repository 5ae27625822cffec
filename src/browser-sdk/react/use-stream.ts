// `useStream`: the items and events of one group of a stream.

import { useEffect, useRef } from 'react';
import type { SvcError } from '../../sdk/calls/errors.ts';
import type { StreamEvent } from '../../sdk/streams/stream-items.ts';
import type { SubscribeOptions } from '../../sdk/streams/stream-subscription.ts';
import type { SvcWorker } from '../../sdk/worker/svc-worker.ts';
import { useSvc } from './provider.ts';
import { nothing, useView, View } from './view.ts';

/**
 * One group of a stream, as far as it is known.
 *
 * @example
 * import type { StreamView } from 'svc-browser-sdk/react';
 *
 * export const isCurrent = ({ status }: StreamView<unknown>): boolean => status === 'live';
 */
export interface StreamView<T> {
  /** The items by their ids. A new map when one of them has changed, the same one otherwise. */
  readonly items: ReadonlyMap<string, T>;
  /** Events of `send`, oldest first: the last `keep_events` of them. */
  readonly events: readonly StreamEvent[];
  /**
   * `connecting`: nothing is known yet. `live`: the items are current. `reconnecting`: the connection broke, the items
   * are those from before. `ended`: the subscription was refused for good, `error` says why.
   */
  readonly status: 'connecting' | 'live' | 'reconnecting' | 'ended';
  /** False if the last reconnection could not recover every missed event. The items are correct all the same. */
  readonly recovered: boolean;
  readonly error: SvcError | undefined;
}

/**
 * Options of `useStream`.
 *
 * @example
 * import type { StreamViewOptions } from 'svc-browser-sdk/react';
 *
 * export const options: StreamViewOptions = { item: 'topic', keep_events: 0 };
 */
export interface StreamViewOptions extends SubscribeOptions {
  /** How many events of `send` are kept. Default 100. */
  readonly keep_events?: number | undefined;
}

const KEEP_EVENTS_DEFAULT = 100;

/**
 * Watches one group of a stream while the component is mounted, over a socket of its own: components that show the same
 * group should get it from a common parent. A change of stream, group, `item`, `url` or `conflate` makes a new
 * subscription; `token` and `keep_events` may differ from render to render.
 *
 * @example
 * import { useStream } from 'svc-browser-sdk/react';
 *
 * export function Room({ id }: { id: string }) {
 *   const { items, status } = useStream<{ text: string }>('chat', id);
 *   const lines = [...items.values()].map(({ text }) => text);
 *   return status === 'live' ? lines.join('\n') : status;
 * }
 */
export function useStream<T = unknown>(stream: string, group: string, options: StreamViewOptions = {}): StreamView<T> {
  const svc = useSvc();
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const { item, url, conflate } = options;
  const hasToken = options.token !== undefined;
  const make = (): View<StreamView<T>> => {
    const token = async (): Promise<string> => {
      const given = latest.current.token ?? '';
      return typeof given === 'string' ? given : given();
    };
    const keep = (): number => latest.current.keep_events ?? KEEP_EVENTS_DEFAULT;
    return viewOf(svc, stream, group, { item, url, conflate, token: hasToken ? token : undefined, keep });
  };
  const [shown] = useView(make, [svc, stream, group, item, url, conflate, hasToken]);
  return shown;
}

interface Watching extends SubscribeOptions {
  readonly keep: () => number;
}

function viewOf<T>(
  svc: SvcWorker | undefined,
  stream: string,
  group: string,
  { keep, ...options }: Watching,
): View<StreamView<T>> {
  const initial: StreamView<T> = {
    items: new Map(),
    events: [],
    status: 'connecting',
    recovered: true,
    error: undefined,
  };
  return new View(initial, (view) => {
    if (svc === undefined) return nothing;
    let state = initial;
    /** The items of the subscription, which changes them in place; undefined: nothing changed since the last frame. */
    let changed: ReadonlyMap<string, T> | undefined;
    let newEvents: StreamEvent[] | undefined;
    const read = (): StreamView<T> => {
      if (changed !== undefined) state = { ...state, items: new Map(changed) };
      if (newEvents !== undefined) state = { ...state, events: newEvents };
      changed = undefined;
      newEvents = undefined;
      return state;
    };
    const update = (news: Partial<StreamView<T>>): void => {
      state = { ...state, ...news };
      view.show(read);
    };
    const subscription = svc
      .stream(stream)
      .group<T>(group)
      .subscribe(
        {
          onSync(items, { isGap }) {
            changed = items;
            update({ status: 'live', recovered: !isGap });
          },
          onChange(_change, items) {
            changed = items;
            view.show(read);
          },
          onEvent(event) {
            newEvents ??= [...state.events];
            newEvents.push(event);
            newEvents.splice(0, newEvents.length - keep());
            view.show(read);
          },
          onDisconnect: () => update({ status: 'reconnecting' }),
          onError: (error) => update({ status: 'ended', error }),
        },
        options,
      );
    return () => subscription.close();
  });
}
