// The clients of the stream server: from the first message to the last leave event.
//
// Neighbours: `admission.ts` admits them, `joins-and-leaves.ts` decides who may join what, `feeds.ts` sends events.
// Invariants:
//   - One `stream:leave` for each subscription that was admitted, however it ends (T7).
//   - A connection that is closed has no subscriptions.

import { Refusal } from '../../core/calls/refusal.ts';
import type { SharedBytes } from '../../core/limits/connection-counts.ts';
import type { Clock } from '../../effects/clock.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import type { RouterPort } from '../../router/port.ts';
import {
  LIVENESS_CHECK_INTERVAL_MS,
  OwnSilence,
  PING_INTERVAL_MS,
  SILENT_MS,
} from '../../router/session/housekeeping.ts';
import type { PeerSocket, SocketEvents } from '../../transport/socket.ts';
import type { StreamLimits } from '../module.ts';
import type { AdmittedClient } from './admission.ts';
import { StreamConnection } from './connection.ts';
import type { Feeds } from './feeds.ts';
import { Batch, errorMessage, type MessageSubject, PONG, readClientMessage, unauthorizedMessage } from './messages.ts';
import { Subscription, type SubscriptionGate } from './subscription.ts';
import type { JoinRequest } from './target.ts';

export interface ClientsOptions {
  readonly clock: Clock;
  readonly router: RouterPort;
  readonly limits: StreamLimits;
  readonly gate: SubscriptionGate;
  /** Unread bytes of the clients of all routers. */
  readonly sharedUnread: SharedBytes;
  readonly feeds: Feeds;
  /** A connection has ended. */
  left(address: string): void;
}

/** Unread snapshots of one connection: the size of the longest, and some more. */
export const SNAPSHOTS_BYTES_MAX = 8 * 1024 * 1024;

export class Clients {
  readonly #options: ClientsOptions;
  /** Of each connection, its subscriptions by the id that the client chose. */
  readonly #connections = new Map<StreamConnection, Map<string, Subscription>>();
  #stop: (() => void) | undefined;

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#connections.size;
  }

  start(): void {
    const { clock } = this.#options;
    const ownSilence = new OwnSilence(LIVENESS_CHECK_INTERVAL_MS, clock.monotonicMs());
    this.#stop = clock.every(LIVENESS_CHECK_INTERVAL_MS, () => this.#check(ownSilence));
  }

  /** Closes all of them; their leave events are on their way when this returns. */
  stop(): void {
    this.#stop?.();
    for (const connection of [...this.#connections.keys()]) {
      connection.close(CLOSE_CODES.goingAway, 'the engine is shutting down');
      this.#ended(connection);
    }
  }

  connected(socket: PeerSocket, { target, address, isBatched, context }: AdmittedClient): SocketEvents {
    const { clock, limits, router, left } = this.#options;
    const connection = new StreamConnection({
      socket,
      isBatched,
      context,
      limits: {
        bytesMax: limits.outboundBufferBytes,
        messagesMax: limits.outboundMessages,
        freeBytesMax: SNAPSHOTS_BYTES_MAX,
      },
      address,
      nowMs: clock.monotonicMs(),
      connectedAtMs: clock.nowMs(),
      tooSlow: (slow, bytes) => this.#closeSlow(slow, bytes),
      leftOut: (events) => router.count('streams.conflated', undefined, events),
    });
    this.#connections.set(connection, new Map());
    if (target.kind === 'join') this.#join(connection, target.join);
    return {
      message: (bytes) => {
        connection.heardMs = clock.monotonicMs();
        this.#message(connection, bytes);
      },
      heard: () => {
        connection.heardMs = clock.monotonicMs();
      },
      closed: (_code, isOverlong) => {
        if (isOverlong === true) router.count('streams.closed', 'message_too_big');
        this.#ended(connection);
        left(address);
      },
    };
  }

  /** The store could not read the group. */
  failed(subscription: Subscription, error: ErrorBody): void {
    this.#sendError(subscription.connection, subjectOf(subscription), error);
    this.#leave(subscription);
  }

  /** Events pile up while a snapshot has not arrived. */
  overflowed({ connection, heldBytes }: Subscription): void {
    this.#closeSlow(connection, heldBytes);
  }

  #message(connection: StreamConnection, bytes: Uint8Array): void {
    const { clock, limits, router } = this.#options;
    switch (connection.rate(clock.monotonicMs(), limits.messages)) {
      case 'flood':
        router.count('streams.closed', 'too_many_messages');
        connection.close(CLOSE_CODES.tooManyMessages, `the limit is ${limits.messages.perSecond} messages per second`);
        this.#ended(connection);
        return;
      case 'excess':
        router.count('streams.refused', 'RATE_LIMITED');
        this.#refuse(connection, {}, 'RATE_LIMITED', `The limit is ${limits.messages.perSecond} messages per second`);
        return;
      case 'ok':
        break;
    }
    const message = readClientMessage(bytes);
    if (message === undefined) return;
    if (message instanceof Refusal) {
      router.count('streams.refused', message.code);
      this.#refuse(connection, {}, message.code, message.message);
    } else if (message.type === 'ping') {
      connection.send(PONG);
    } else if (message.type === 'join') {
      this.#join(connection, message.join);
    } else {
      this.#leaveAsked(connection, message.join);
    }
  }

  #join(connection: StreamConnection, request: JoinRequest): void {
    const { limits, gate, feeds, router, clock } = this.#options;
    connection.hasAsked = true;
    const subscriptions = this.#connections.get(connection);
    // The connection was closed while the message was on its way.
    if (subscriptions === undefined) return;
    const previous = subscriptions.get(request.subscriptionId);
    if (previous !== undefined) this.#leave(previous);
    if (subscriptions.size >= limits.subscriptions) {
      const text = `This connection is at its limit of ${limits.subscriptions} subscriptions`;
      router.count('streams.refused', 'OVERLOADED');
      this.#refuse(connection, request, 'OVERLOADED', text);
      return;
    }
    if (router.isDraining) {
      this.#refuse(connection, request, 'SHUTTING_DOWN', 'The engine is stopping');
      return;
    }
    const subscription = new Subscription(connection, request);
    subscriptions.set(subscription.id, subscription);
    gate.join(subscription, (isIn) => {
      subscription.isIn = isIn;
      // Its client may have left while its handlers ran.
      if (subscription.state === 'ended') {
        if (isIn) gate.leave(subscription);
      } else if (isIn) {
        feeds.open(subscription, request.since);
      } else {
        router.count('streams.refused', 'unauthorized');
        this.#forget(subscription);
        connection.send(new Batch([unauthorizedMessage(clock.nowMs(), subjectOf(subscription))]));
      }
    });
  }

  #leaveAsked(connection: StreamConnection, request: JoinRequest): void {
    const subscription = this.#connections.get(connection)?.get(request.subscriptionId);
    if (subscription !== undefined) this.#leave(subscription);
  }

  #leave(subscription: Subscription): void {
    this.#forget(subscription);
    this.#options.feeds.close(subscription);
    // The group may be joined again while the close of its connection is on its way.
    if (!subscription.isIn) return;
    subscription.isIn = false;
    this.#options.gate.leave(subscription);
  }

  #forget(subscription: Subscription): void {
    subscription.state = 'ended';
    subscription.connection.dropKept(subscription.id);
    const subscriptions = this.#connections.get(subscription.connection);
    if (subscriptions?.get(subscription.id) === subscription) subscriptions.delete(subscription.id);
  }

  #ended(connection: StreamConnection): void {
    const subscriptions = this.#connections.get(connection);
    if (subscriptions === undefined) return;
    this.#connections.delete(connection);
    for (const subscription of subscriptions.values()) this.#leave(subscription);
  }

  #closeSlow(connection: StreamConnection, bytes: number): void {
    if (!this.#connections.has(connection)) return;
    this.#options.router.count('streams.closed', 'too_slow');
    connection.closeSlow(bytes);
    this.#ended(connection);
  }

  #check(ownSilence: OwnSilence): void {
    const { clock, limits } = this.#options;
    const nowMs = clock.monotonicMs();
    const ownSilenceMs = ownSilence.sinceLastCheck(nowMs);
    for (const connection of [...this.#connections.keys()]) {
      connection.heardMs += ownSilenceMs;
      if (nowMs - connection.heardMs >= SILENT_MS) {
        this.#options.router.count('streams.closed', 'silent');
        connection.terminate();
        this.#ended(connection);
      } else if (!connection.hasAsked && nowMs - connection.connectedMs > limits.registrationMs) {
        this.#options.router.count('streams.closed', 'not_registered');
        connection.close(CLOSE_CODES.notRegistered, `nothing was joined within ${limits.registrationMs / 1_000} s`);
        this.#ended(connection);
      } else if (nowMs - connection.pingedMs >= PING_INTERVAL_MS) {
        connection.pingedMs = nowMs;
        connection.ping();
      }
    }
    this.#checkUnread();
  }

  /**
   * Over the limit of the whole process, those with the most unread bytes are closed first, as many as necessary. Each
   * router closes its share.
   */
  #checkUnread(): void {
    const { limits, sharedUnread } = this.#options;
    const unread = [...this.#connections.keys()]
      .filter(({ hasUnread }) => hasUnread)
      .map((connection) => ({ connection, bytes: connection.bufferedBytes }));
    const own = unread.reduce((sum, { bytes }) => sum + bytes, 0);
    sharedUnread.note(own);
    const all = own + sharedUnread.elsewhere;
    let excess = (all - limits.allBuffersBytes) * (own / all);
    // Nothing is unread: not a number.
    if (!(excess > 0)) return;
    for (const { connection, bytes } of unread.sort((one, other) => other.bytes - one.bytes)) {
      this.#closeSlow(connection, bytes);
      excess -= bytes;
      if (excess <= 0) return;
    }
  }

  #refuse(connection: StreamConnection, subject: Partial<JoinRequest>, code: string, message: string): void {
    this.#sendError(connection, subject, { code, message });
  }

  #sendError(connection: StreamConnection, subject: MessageSubject, error: ErrorBody): void {
    connection.send(new Batch([errorMessage(this.#options.clock.nowMs(), subject, error)]));
  }
}

function subjectOf({ id, stream, group, item }: Subscription): MessageSubject {
  return { subscriptionId: id, stream, group, item };
}
