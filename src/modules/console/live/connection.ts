// The live sockets. Each reads the page's requests, and ends everything that belongs to it when it closes. Where a
// token is required, nothing is subscribed before the token was accepted. Sockets that have gone silent are closed.

import type { LiveRequest } from '../../../console/api/live.ts';
import { equalSecrets } from '../../../effects/random.ts';
import { validateLiveRequest } from '../../../generated/console-requests.ts';
import { CLOSE_CODES } from '../../../protocol/frames/close-codes.ts';
import { type ByteString, rawJson } from '../../../protocol/json/byte-string.ts';
import { PING_INTERVAL_MS, SILENT_MS } from '../../../router/session/housekeeping.ts';
import type { PeerSocket, SocketEvents } from '../../../transport/socket.ts';
import type { ConsoleContext } from '../console-context.ts';
import { failureOf } from '../sources/failure.ts';
import { LiveSubscription } from './subscription.ts';
import { Topics } from './topics.ts';

/** For the first frame of a page that needs the token. */
const AUTH_MS_MAX = 10_000;
const SUBSCRIPTIONS_MAX = 64;
const UNAUTHORIZED = 4401;

export interface LiveConnectionOptions {
  readonly context: ConsoleContext;
  readonly topics: Topics;
  ended(connection: LiveConnection): void;
}

export class LiveConnection implements SocketEvents {
  readonly #options: LiveConnectionOptions;
  readonly #socket: PeerSocket;
  readonly #subscriptions = new Map<number, LiveSubscription>();
  #isKnown: boolean;
  #cancelAuth: (() => void) | undefined;
  heardMs: number;

  constructor(options: LiveConnectionOptions, socket: PeerSocket, isKnown: boolean) {
    const { clock } = options.context.module;
    this.#options = options;
    this.#socket = socket;
    this.#isKnown = isKnown;
    this.heardMs = clock.monotonicMs();
    if (!isKnown) {
      this.#cancelAuth = clock.after(AUTH_MS_MAX, () => this.end(UNAUTHORIZED, 'the token was not shown in time'));
    }
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }

  send(frame: ByteString): void {
    this.#socket.sendText(frame);
  }

  after(ms: number, act: () => void): () => void {
    return this.#options.context.module.clock.after(ms, act);
  }

  ping(): void {
    this.#socket.ping();
  }

  heard(): void {
    this.heardMs = this.#options.context.module.clock.monotonicMs();
  }

  message(bytes: Uint8Array): void {
    this.heard();
    const request = readRequest(bytes);
    if (!this.#isKnown) return this.#authenticate(request);
    if (request === undefined) return this.#refuse(undefined, 'BAD_REQUEST', 'This is no frame of the live socket');
    if (request.op === 'sub') this.#subscribe(request);
    if (request.op === 'unsub') this.#unsubscribe(request.id);
  }

  closed(): void {
    this.#release();
  }

  end(code: number, reason: string): void {
    this.#socket.close(code, reason);
    this.#release();
  }

  terminate(): void {
    this.#socket.terminate();
    this.#release();
  }

  /** A client without a token gets one frame. Answers to more frames would be work that it can cause for free. */
  #authenticate(request: LiveRequest | undefined): void {
    const wanted = this.#options.context.module.settings.bridgeToken;
    if (request?.op !== 'auth') return this.end(UNAUTHORIZED, 'the first frame has to bring the token');
    if (wanted === undefined || !equalSecrets(request.token, wanted)) {
      return this.end(UNAUTHORIZED, 'the token is wrong');
    }
    this.#isKnown = true;
    this.#cancelAuth?.();
  }

  #subscribe({ id, topic, filter, since }: Extract<LiveRequest, { op: 'sub' }>): void {
    if (!Number.isSafeInteger(id) || id < 0) return this.#refuse(undefined, 'BAD_REQUEST', 'id must be a whole number');
    this.#unsubscribe(id);
    if (this.#subscriptions.size >= SUBSCRIPTIONS_MAX) {
      return this.#refuse(id, 'OVERLOADED', `This socket is at its limit of ${SUBSCRIPTIONS_MAX} subscriptions`);
    }
    const subscription = new LiveSubscription(id, this);
    this.#subscriptions.set(id, subscription);
    const failed = (error: unknown): void => {
      const { code, message } = failureOf(error).error;
      if (this.#subscriptions.get(id) === subscription) this.#subscriptions.delete(id);
      if (!subscription.isOver) this.#refuse(id, code, message);
      subscription.end();
    };
    try {
      this.#options.topics.open({ topic, filter: filter ?? {}, since, subscription, failed });
    } catch (error) {
      failed(error);
    }
  }

  #unsubscribe(id: number): void {
    this.#subscriptions.get(id)?.end();
    this.#subscriptions.delete(id);
  }

  #refuse(id: number | undefined, code: string, message: string): void {
    this.send(rawJson({ error: { code, message }, ...(id !== undefined && { id }) }));
  }

  #release(): void {
    this.#cancelAuth?.();
    for (const subscription of this.#subscriptions.values()) subscription.end();
    this.#subscriptions.clear();
    this.#options.ended(this);
  }
}

function readRequest(bytes: Uint8Array): LiveRequest | undefined {
  try {
    const verdict = validateLiveRequest(JSON.parse(Buffer.from(bytes).toString('utf8')));
    return verdict.success ? verdict.data : undefined;
  } catch {
    // It is not JSON.
    return undefined;
  }
}

const CONNECTIONS_MAX = 256;
const NOTHING: SocketEvents = { message: () => {}, heard: () => {}, closed: () => {} };

export class LivePort {
  readonly #context: ConsoleContext;
  readonly #topics: Topics;
  readonly #connections = new Set<LiveConnection>();
  #stopChecking: (() => void) | undefined;

  constructor(context: ConsoleContext) {
    this.#context = context;
    this.#topics = new Topics(context);
  }

  start(): void {
    this.#topics.start();
  }

  connected(socket: PeerSocket, isKnown: boolean): SocketEvents {
    if (this.#connections.size >= CONNECTIONS_MAX) {
      socket.close(CLOSE_CODES.tryAgainLater, `at most ${CONNECTIONS_MAX} live sockets`);
      return NOTHING;
    }
    const options = {
      context: this.#context,
      topics: this.#topics,
      ended: (connection: LiveConnection) => this.#ended(connection),
    };
    const connection = new LiveConnection(options, socket, isKnown);
    this.#connections.add(connection);
    this.#stopChecking ??= this.#context.module.clock.every(PING_INTERVAL_MS, () => this.#check());
    return connection;
  }

  stop(): void {
    for (const connection of [...this.#connections]) {
      connection.end(CLOSE_CODES.goingAway, 'the engine is shutting down');
    }
    this.#topics.stop();
  }

  #ended(connection: LiveConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    this.#stopChecking?.();
    this.#stopChecking = undefined;
  }

  #check(): void {
    const nowMs = this.#context.module.clock.monotonicMs();
    for (const connection of [...this.#connections]) {
      if (nowMs - connection.heardMs >= SILENT_MS) connection.terminate();
      else connection.ping();
    }
  }
}
