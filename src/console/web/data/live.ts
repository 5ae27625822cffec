// The one live socket of this tab (LIV-1). Views subscribe to topics while they are mounted. Equal subscriptions share
// one on the wire. The socket exists while there are subscribers, and reconnects by itself.
//
// - An id is used for one subscription of one socket. Frames of an unknown id are ignored.
// - After a loss every subscription is opened again. Its listeners receive `lost` before and `back` after. They also
//   receive `back` where the socket came only after them: what they read before may be older than a change.
// - 30 s after the tab was hidden, all subscriptions but `counters` and `health` are ended. On return they are opened
//   again (LIV-6).
// - However many frames the socket receives, views are notified once before the next paint (LIV-2).

import type { LiveFrame } from '../../api/live.ts';
import { connection, heardEngine, lostEngine } from './connection.ts';
import { session, tokenRefused } from './session.ts';

const waiting = new Set<() => void>();
let asked = false;

export function beforeNextPaint(run: () => void): void {
  waiting.add(run);
  if (asked) return;
  asked = true;
  // A hidden tab does not paint, but its data must still be released.
  if (document.hidden) setTimeout(beat, 1_000);
  else requestAnimationFrame(beat);
}

function beat(): void {
  asked = false;
  const due = [...waiting];
  waiting.clear();
  for (const run of due) run();
}

export interface LiveListener {
  /** A batch, in order. Called outside React, up to ten times a second. */
  items(items: readonly unknown[]): void;
  /** The server left out that many items, because this page or the engine was too busy. */
  gap?(dropped: number): void;
  /** The connection was lost. Changes in the meantime are unknown. */
  lost?(): void;
  /** The subscription runs again: missed data can be read. */
  back?(): void;
  /** The server refused the topic. */
  refused?(error: { readonly code: string; readonly message: string }): void;
}

interface Subscription {
  readonly topic: string;
  readonly filter: unknown;
  readonly listeners: Set<LiveListener>;
  /** Undefined while the subscription is not on the wire. */
  id: number | undefined;
  cut: boolean;
  /** Where the last batch ended: a new subscription continues after it. */
  cursor: string | undefined;
}

const HIDDEN_MS = 30_000;
const RETRY_MS = [500, 1_000, 2_000, 3_000, 5_000];
const STAYS_HIDDEN = new Set(['counters', 'health']);
const CLOSE_UNAUTHORIZED = 4401;

const subscriptions = new Map<string, Subscription>();
const byId = new Map<number, Subscription>();
let socket: WebSocket | undefined;
let open = false;
let nextId = 1;
let attempts = 0;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let asleep = false;

/** Subscribes. Call the returned function to end it. */
export function listen(topic: string, listener: LiveListener, filter?: unknown): () => void {
  const key = JSON.stringify([topic, filter]);
  const subscription = subscriptions.get(key) ?? {
    topic,
    filter,
    listeners: new Set(),
    id: undefined,
    cut: !open,
    cursor: undefined,
  };
  subscriptions.set(key, subscription);
  subscription.listeners.add(listener);
  if (open) begin(subscription);
  else connect();
  return () => {
    subscription.listeners.delete(listener);
    if (subscription.listeners.size > 0) return;
    subscriptions.delete(key);
    end(subscription);
  };
}

function connect(): void {
  if (socket !== undefined || session.get().wanted) return;
  clearTimeout(retryTimer);
  const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const fresh = new WebSocket(`${scheme}//${location.host}/api/live`);
  socket = fresh;
  fresh.onopen = () => {
    open = true;
    const { token } = session.get();
    if (token !== undefined) fresh.send(JSON.stringify({ op: 'auth', token }));
    for (const subscription of subscriptions.values()) begin(subscription);
  };
  fresh.onmessage = ({ data }) => {
    attempts = 0;
    heardEngine();
    receive(String(data));
  };
  fresh.onclose = ({ code, reason }) => closed(code, reason);
}

function closed(code: number, reason: string): void {
  socket = undefined;
  open = false;
  byId.clear();
  for (const subscription of subscriptions.values()) {
    if (subscription.id === undefined) continue;
    subscription.id = undefined;
    subscription.cut = true;
    for (const { lost } of subscription.listeners) lost?.();
  }
  if (code === CLOSE_UNAUTHORIZED) return tokenRefused();
  lostEngine('engine', reason === '' ? 'The live connection to the engine was lost' : reason);
  if (subscriptions.size === 0) return;
  const wait = RETRY_MS[Math.min(attempts++, RETRY_MS.length - 1)];
  retryTimer = setTimeout(connect, wait);
}

function begin(subscription: Subscription): void {
  if (subscription.id !== undefined || (asleep && !STAYS_HIDDEN.has(subscription.topic))) return;
  subscription.id = nextId++;
  byId.set(subscription.id, subscription);
  const { id, topic, filter, cursor } = subscription;
  send({ op: 'sub', id, topic, filter, since: cursor });
}

function begun(subscription: Subscription, cursor: string | undefined): void {
  subscription.cursor = cursor;
  if (!subscription.cut) return;
  subscription.cut = false;
  for (const { back } of subscription.listeners) back?.();
}

function end(subscription: Subscription): void {
  if (subscription.id === undefined) return;
  byId.delete(subscription.id);
  send({ op: 'unsub', id: subscription.id });
  subscription.id = undefined;
}

function send(frame: { readonly [member: string]: unknown }): void {
  if (open) socket?.send(JSON.stringify(frame));
}

function receive(text: string): void {
  // The engine's own tests check that its frames keep the contract.
  const frame = JSON.parse(text) as LiveFrame;
  if ('error' in frame && frame.error.code === 'UNAUTHORIZED') tokenRefused();
  const subscription = frame.id === undefined ? undefined : byId.get(frame.id);
  if (subscription === undefined) return;
  if ('subscribed' in frame) begun(subscription, frame.subscribed.cursor ?? undefined);
  if ('items' in frame) subscription.cursor = frame.cursor ?? subscription.cursor;
  for (const listener of subscription.listeners) {
    if ('gap' in frame) listener.gap?.(frame.gap.dropped);
    else if ('items' in frame) listener.items(frame.items);
    else if ('error' in frame) listener.refused?.(frame.error);
  }
}

let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
document.addEventListener('visibilitychange', () => {
  clearTimeout(hiddenTimer);
  if (document.hidden) {
    hiddenTimer = setTimeout(fallAsleep, HIDDEN_MS);
    return;
  }
  if (!asleep) return;
  asleep = false;
  for (const subscription of subscriptions.values()) begin(subscription);
});

function fallAsleep(): void {
  asleep = true;
  for (const subscription of subscriptions.values()) {
    if (subscription.id === undefined || STAYS_HIDDEN.has(subscription.topic)) continue;
    end(subscription);
    subscription.cut = true;
    for (const { lost } of subscription.listeners) lost?.();
  }
}

// The socket tries again after the user enters a token, and after the engine answers a call.
session.subscribe(() => {
  if (!session.get().wanted && subscriptions.size > 0) beforeNextPaint(connect);
});
connection.subscribe(() => {
  if (connection.get().state === 'up' && subscriptions.size > 0) beforeNextPaint(connect);
});
