// Live topics in components: a ring that fills outside React with a version that makes the view read it again, handlers
// that patch other data, and the read that finds what changed before the subscription.

import { useEffect, useMemo, useRef, useState } from 'react';
import { beforeNextPaint, listen } from './live.ts';
import { Ring } from './ring.ts';

/** An item of a ring: an item from the server, or a gap where it sent none (LIV-5). */
export type LiveItem<T> =
  | { readonly kind: 'item'; readonly value: T }
  /** `dropped` is undefined where the connection was lost and the number is unknown. */
  | { readonly kind: 'gap'; readonly dropped: number | undefined; readonly atMs: number };

export interface LiveFeed<T> {
  readonly ring: Ring<LiveItem<T>>;
  /** Grows with every batch. A view that depends on it is drawn again, at most once a frame. */
  readonly version: number;
  readonly refusal: { readonly code: string; readonly message: string } | undefined;
  clear(): void;
}

interface FeedOptions {
  readonly limit?: number;
  readonly filter?: unknown;
  /** False while the view does not need the topic. */
  readonly enabled?: boolean;
}

/** Subscribes while the component is mounted. Items arrive oldest first. */
export function useLiveFeed<T>(
  topic: string,
  { limit = 5_000, filter, enabled = true }: FeedOptions = {},
): LiveFeed<T> {
  const ring = useMemo(() => new Ring<LiveItem<T>>(limit), [limit]);
  const [version, setVersion] = useState(0);
  const [refusal, setRefusal] = useState<LiveFeed<T>['refusal']>();
  const filterText = JSON.stringify(filter);
  useEffect(() => {
    if (!enabled) return;
    let alive = true;
    const draw = (): void => setVersion((now) => (alive ? now + 1 : now));
    const put = (items: readonly LiveItem<T>[]): void => {
      ring.push(items);
      beforeNextPaint(draw);
    };
    setRefusal(undefined);
    const stop = listen(
      topic,
      {
        items: (items) => put(items.map((value) => ({ kind: 'item', value: value as T }))),
        gap: (dropped) => put([{ kind: 'gap', dropped, atMs: Date.now() }]),
        lost: () => put([{ kind: 'gap', dropped: undefined, atMs: Date.now() }]),
        refused: setRefusal,
      },
      filterText === undefined ? undefined : JSON.parse(filterText),
    );
    return () => {
      alive = false;
      stop();
    };
  }, [topic, filterText, enabled, ring]);
  return {
    ring,
    version,
    refusal,
    clear: () => {
      ring.clear();
      setVersion((now) => now + 1);
    },
  };
}

/**
 * For topics whose items patch other data. The handlers are called before the next paint, however many frames brought
 * the items (LIV-2). They may change from render to render.
 */
export function useLive(
  topic: string,
  handlers: { items(items: readonly unknown[]): void; back?(): void },
  { filter, enabled = true }: Omit<FeedOptions, 'limit'> = {},
): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  const filterText = JSON.stringify(filter);
  useEffect(() => {
    if (!enabled) return;
    let waiting: unknown[] = [];
    const deliver = (): void => {
      const items = waiting;
      waiting = [];
      if (items.length > 0) latest.current.items(items);
    };
    const stop = listen(
      topic,
      {
        items(items) {
          waiting.push(...items);
          beforeNextPaint(deliver);
        },
        back: () => latest.current.back?.(),
        gap: () => latest.current.back?.(),
      },
      filterText === undefined ? undefined : JSON.parse(filterText),
    );
    return () => {
      waiting = [];
      stop();
    };
  }, [topic, filterText, enabled]);
}

const CATCH_UP_MS = 1_000;

/** Runs once for each `question` that is live. */
export function useCatchUp(question: string, isLive: boolean, refetch: () => void): void {
  const latest = useRef(refetch);
  latest.current = refetch;
  useEffect(() => {
    if (!isLive || question === '') return;
    const timer = setTimeout(() => latest.current(), CATCH_UP_MS);
    return () => clearTimeout(timer);
  }, [question, isLive]);
}
