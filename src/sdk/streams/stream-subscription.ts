// A subscription that lasts until it is closed: it dials, recovers missed events, and takes a new snapshot where
// recovery is not possible (T4).
//
// Modes and transitions:
//   dialling  a socket is opening; the first message leads to live, a close leads to waiting
//   live      messages are merged and reported
//   waiting   a timer runs until the next dial
//   ended     closed by the user, or refused for good by the server
//
// - `#position` is the position of the last merged message. A redial asks for what follows it, so no event is reported
//   twice and missing events are reported as a gap.

import { SUBPROTOCOL_AUTHORIZATION, SUBPROTOCOL_STREAM } from '../../protocol/frames/subprotocols.ts';
import { SvcError } from '../calls/errors.ts';
import { redialDelayMs } from '../connection/backoff.ts';
import { Liveness } from '../connection/liveness.ts';
import type { Platform, PlatformSocket, SocketClosure } from '../worker/platform.ts';
import {
  positionIn,
  readStreamFrame,
  type StreamChange,
  type StreamEvent,
  StreamItems,
  type StreamMessage,
} from './stream-items.ts';

/**
 * Handlers of a subscription. All of them are optional.
 *
 * @example
 * import type { StreamHandlers } from 'svc-sdk';
 *
 * export const handlers: StreamHandlers<{ text: string }> = {
 *   onSync: (items, { isGap }) => console.log(items.size, isGap ? 'some events were missed' : ''),
 *   onChange: ({ type, id, data }) => console.log(type, id, data.text),
 * };
 */
export interface StreamHandlers<T> {
  /**
   * The current items: at the beginning, and after every reconnection. `recovered`: every missed event follows.
   * `isGap`: events were missed that cannot be recovered; the items are correct all the same.
   */
  readonly onSync?: (
    items: ReadonlyMap<string, T>,
    how: { readonly recovered: boolean; readonly isGap: boolean },
  ) => void;
  /** An item changed; `items` already shows it. */
  readonly onChange?: (change: StreamChange<T>, items: ReadonlyMap<string, T>) => void;
  /** A client called `send`. */
  readonly onEvent?: (event: StreamEvent) => void;
  /** The connection broke, and is being restored. */
  readonly onDisconnect?: (reason: string) => void;
  /** The subscription has ended for good: it was refused, or cannot be served. */
  readonly onError?: (error: SvcError) => void;
}

/**
 * Options of a subscription.
 *
 * @example
 * import type { SubscribeOptions } from 'svc-sdk';
 *
 * export const options: SubscribeOptions = { item: 'topic', token: () => process.env.STREAM_TOKEN ?? '' };
 */
export interface SubscribeOptions {
  /** Only this item. */
  readonly item?: string | undefined;
  /**
   * For a connection that is too slow: receive only the newest change of each item, instead of starting again from a
   * new snapshot. `conflated` counts the skipped events. Changes are then reported relative to what this side knows: as
   * `create` for an item that it did not know. Events of `send` are never skipped.
   */
  readonly conflate?: boolean | undefined;
  /** For the auth function of the stream server; a function is called again for each dial. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Address of the stream server. Default: that of the worker's options, else port 3112 of the engine's host. */
  readonly url?: string | undefined;
}

/**
 * A running subscription.
 *
 * @example
 * import { registerWorker, type StreamSubscription } from 'svc-sdk';
 *
 * const room = registerWorker().stream('chat').group<{ text: string }>('room1');
 * const watch: StreamSubscription<{ text: string }> = room.subscribe();
 * console.log(watch.items.size);
 * watch.close();
 */
export interface StreamSubscription<T> {
  /** The items that are known so far. */
  readonly items: ReadonlyMap<string, T>;
  /** Resolves with the first snapshot; rejects if the subscription ends before it. */
  ready(): Promise<ReadonlyMap<string, T>>;
  close(): void;
}

export interface SubscriptionContext<T> {
  readonly platform: Platform;
  readonly url: string;
  readonly stream: string;
  readonly group: string;
  readonly options: SubscribeOptions;
  readonly handlers: StreamHandlers<T>;
  /** It has ended for good. Called once. */
  readonly onEnded: (subscription: StreamSubscription<T>) => void;
  /** A dial before the first snapshot failed. Another one follows, unless the subscription is closed. */
  readonly onNotReached?: (reason: string) => void;
  /** A handler threw. */
  readonly onThrown: (error: unknown) => void;
}

/** The limit of a snapshot is 4 MiB; events of a busy turn share a frame. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const NORMAL_CLOSURE = 1000;
const TOO_MANY = 429;
const UNAUTHORIZED = 401;
/** Whether the answer to an upgrade will be the same the next time. */
const isFinal = (status: number): boolean => status >= 400 && status < 500 && status !== TOO_MANY;
/** Codes of the server for a subscription that it cannot serve now but may serve soon. */
const PASSING: ReadonlySet<unknown> = new Set(['OVERLOADED', 'RATE_LIMITED', 'SHUTTING_DOWN', 'STORAGE_UNAVAILABLE']);

type Mode =
  | { readonly name: 'dialling' | 'live'; readonly socket: PlatformSocket | undefined }
  | { readonly name: 'waiting'; readonly cancel: () => void }
  | { readonly name: 'ended' };

export class LastingSubscription<T> implements StreamSubscription<T> {
  readonly #context: SubscriptionContext<T>;
  readonly #items: StreamItems<T>;
  readonly #ready: Promise<ReadonlyMap<string, T>>;
  #markReady: (items: ReadonlyMap<string, T>) => void = () => {};
  #markFailed: (error: SvcError) => void = () => {};
  #mode: Mode = { name: 'dialling', socket: undefined };
  #position: { readonly epoch: string; readonly seq: number } | undefined;
  #liveness: Liveness | undefined;
  #failures = 0;

  constructor(context: SubscriptionContext<T>) {
    this.#context = context;
    this.#items = new StreamItems(context.options.item, context.options.conflate === true);
    this.#ready = new Promise((resolve, reject) => {
      this.#markReady = resolve;
      this.#markFailed = reject;
    });
    // `onError` reports the failure to users that do not await `ready`.
    this.#ready.catch(() => {});
    void this.#dial();
  }

  get items(): ReadonlyMap<string, T> {
    return this.#items.map;
  }

  ready(): Promise<ReadonlyMap<string, T>> {
    return this.#ready;
  }

  close(): void {
    this.#end(new SvcError('CANCELLED', 'the subscription was closed'));
  }

  async #dial(): Promise<void> {
    const mode: Mode = { name: 'dialling', socket: undefined };
    this.#mode = mode;
    try {
      const { token } = this.#context.options;
      const proof = typeof token === 'function' ? await token() : token;
      // The user may have closed it while the token was created.
      if (this.#mode === mode) this.#open(proof);
    } catch (error) {
      if (this.#mode === mode) this.#wait(`the token function failed: ${String(error)}`);
    }
  }

  #open(token: string | undefined): void {
    const { platform } = this.#context;
    const dots = this.#names().find((name) => name === '.' || name === '..');
    if (dots !== undefined) {
      // Every client removes such a segment, escaped or not, and would then watch another group.
      this.#end(new SvcError('BAD_REQUEST', `a stream, group or item cannot be '${dots}'`));
      return;
    }
    const request = { url: this.#address(), messageBytesMax: MESSAGE_BYTES_MAX, ...credentials(platform, token) };
    const socket: PlatformSocket = platform.openSocket(
      { purpose: 'stream', ...request },
      {
        onMessage: (message) => {
          if (this.#isPresent(socket) && typeof message === 'string') this.#receive(socket, message);
        },
        onAlive: () => this.#liveness?.heard(platform.clock.monotonicMs()),
        onClose: (closure) => {
          if (this.#isPresent(socket)) this.#closed(closure);
        },
      },
    );
    this.#mode = { name: 'dialling', socket };
    this.#liveness = new Liveness(platform.clock, {
      ping: () => socket.ping(),
      onSilent: () => {
        if (!this.#isPresent(socket)) return;
        socket.terminate();
        this.#wait('nothing was heard from the server');
      },
    });
  }

  #isPresent(socket: PlatformSocket): boolean {
    return 'socket' in this.#mode && this.#mode.socket === socket;
  }

  #names(): readonly string[] {
    const { stream, group, options } = this.#context;
    return [stream, group, ...(options.item === undefined ? [] : [options.item])];
  }

  #address(): string {
    const { url, options } = this.#context;
    const names = this.#names().map(encodeURIComponent);
    const address = new URL(`stream/${names.join('/')}/`, url.endsWith('/') ? url : `${url}/`);
    if (this.#position !== undefined) {
      address.searchParams.set('epoch', this.#position.epoch);
      address.searchParams.set('seq', String(this.#position.seq));
    }
    if (options.conflate !== undefined) address.searchParams.set('conflate', String(options.conflate));
    return address.href;
  }

  #receive(socket: PlatformSocket, text: string): void {
    this.#liveness?.heard(this.#context.platform.clock.monotonicMs());
    for (const message of readStreamFrame(text)) {
      // A handler may have closed it.
      if (!this.#isPresent(socket)) return;
      this.#take(socket, message);
    }
  }

  #take(socket: PlatformSocket, message: StreamMessage): void {
    const { kind, epoch, seq } = message;
    if (kind === 'error' || kind === 'unauthorized') {
      this.#refused(socket, refusalIn(message));
      return;
    }
    const before = this.#position;
    if (epoch !== undefined && seq !== undefined) this.#position = { epoch, seq };
    if (kind === 'sync') {
      this.#mode = { name: 'live', socket };
      this.#failures = 0;
      this.#sync(message, before !== undefined);
    } else this.#report(message);
  }

  #refused(socket: PlatformSocket, error: SvcError): void {
    if (!PASSING.has(error.code)) {
      this.#end(error);
      return;
    }
    this.#wait(error.message, error.code !== 'SHUTTING_DOWN');
    socket.close(NORMAL_CLOSURE, '');
  }

  #sync(message: StreamMessage, wasHere: boolean): void {
    const { recovered } = message;
    if (!recovered) this.#items.reset(message);
    const { handlers } = this.#context;
    this.#run(() => handlers.onSync?.(this.items, { recovered, isGap: wasHere && !recovered }));
    this.#markReady(this.items);
  }

  #report(message: StreamMessage): void {
    const { handlers } = this.#context;
    const change = this.#items.change(message);
    if (change !== undefined) {
      this.#run(() => handlers.onChange?.(change, this.items));
    } else if (message.custom !== undefined) {
      const { id, custom } = message;
      this.#run(() => handlers.onEvent?.({ ...custom, id, ...positionIn(message) }));
    }
  }

  #closed({ code, reason, httpStatus }: SocketClosure): void {
    const text = reason === '' ? `closed with ${code}` : reason;
    // A subscription that was accepted before is not refused for good: the auth function may be restarting too.
    const isPassing = httpStatus === UNAUTHORIZED && this.#position !== undefined;
    if (httpStatus !== undefined && isFinal(httpStatus) && !isPassing) {
      const error = httpStatus === 401 ? 'UNAUTHORIZED' : httpStatus === 403 ? 'FORBIDDEN' : 'BAD_REQUEST';
      this.#end(new SvcError(error, `the stream server refused the subscription: ${text}`));
    } else this.#wait(text, httpStatus === TOO_MANY);
  }

  #wait(reason: string, isRateLimited = false): void {
    const { platform, handlers } = this.#context;
    this.#liveness?.stop();
    const isNews = this.#mode.name === 'live';
    this.#failures += 1;
    const delayMs = redialDelayMs(this.#failures, isRateLimited, platform.random);
    const cancel = platform.clock.after(delayMs, () => void this.#dial(), 'dial');
    this.#mode = { name: 'waiting', cancel };
    if (isNews) this.#run(() => handlers.onDisconnect?.(reason));
    if (this.#position === undefined) this.#context.onNotReached?.(reason);
  }

  #end(error: SvcError): void {
    const mode = this.#mode;
    if (mode.name === 'ended') return;
    this.#mode = { name: 'ended' };
    this.#liveness?.stop();
    if (mode.name === 'waiting') mode.cancel();
    else mode.socket?.close(NORMAL_CLOSURE, '');
    this.#markFailed(error);
    const { handlers, onEnded } = this.#context;
    onEnded(this);
    if (error.code !== 'CANCELLED') this.#run(() => handlers.onError?.(error));
  }

  #run(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      // A handler that throws must not end its subscription.
      this.#context.onThrown(error);
    }
  }
}

/** A browser cannot set headers: its token goes into the subprotocols, after a prefix (PD-43). */
function credentials(platform: Platform, token: string | undefined) {
  if (token === undefined) return { subprotocols: [SUBPROTOCOL_STREAM], headers: {} };
  if (platform.setsHeaders) {
    return { subprotocols: [SUBPROTOCOL_STREAM], headers: { Authorization: `Bearer ${token}` } };
  }
  return { subprotocols: [SUBPROTOCOL_STREAM, SUBPROTOCOL_AUTHORIZATION, token], headers: {} };
}

function refusalIn({ kind, data }: StreamMessage): SvcError {
  if (kind === 'unauthorized') return new SvcError('UNAUTHORIZED', 'a join handler refused the subscription');
  const { code, message } =
    typeof data === 'object' && data !== null ? { code: undefined, message: undefined, ...data } : {};
  return new SvcError(String(code ?? 'BAD_REQUEST'), String(message ?? 'the stream server refused the subscription'));
}
