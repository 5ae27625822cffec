// The path of events to subscribers, with a store that answers when the test asks it to, and sockets without a network.

import { SharedBytes } from '../../../src/core/limits/connection-counts.ts';
import { Clients } from '../../../src/modules/stream/clients.ts';
import { Feeds } from '../../../src/modules/stream/feeds.ts';
import { JoinsAndLeaves } from '../../../src/modules/stream/joins-and-leaves.ts';
import type { Subscription } from '../../../src/modules/stream/subscription.ts';
import { PATH_SUBSCRIPTION_ID, type Since } from '../../../src/modules/stream/target.ts';
import { Tap } from '../../../src/modules/taps.ts';
import { RAW_NULL } from '../../../src/protocol/json/byte-string.ts';
import type { StoreEvent, StoreReply } from '../../../src/store/thread/contract.ts';
import type { SocketEvents } from '../../../src/transport/socket.ts';
import { EngineInMemory, TEST_STREAM_LIMITS } from '../engine/engine-in-memory.ts';
import { FakeSocket } from '../fakes/fake-socket.ts';
import { type ReadMessage, StreamStore } from './stream-store.ts';

export const GROUP = { stream_name: 's', group_id: 'g' };

interface Asked {
  readonly since: Since | undefined;
  readonly item: string | undefined;
  answer(reply: StoreReply): void;
}

export class FeedsInMemory {
  readonly store = new StreamStore();
  readonly engine = new EngineInMemory();
  /** Pending requests for snapshots. */
  readonly asked: Asked[] = [];
  readonly feeds: Feeds;
  readonly joinsAndLeaves: CountedJoinsAndLeaves;
  readonly clients: Clients;

  constructor(limits = TEST_STREAM_LIMITS) {
    const { clock, router, logger } = this.engine.moduleContext();
    this.feeds = new Feeds({
      clock,
      watch: () => () => {},
      read: ({ item }: Subscription, since, done) => void this.asked.push({ since, item, answer: done }),
      failed: (subscription, error) => this.clients.failed(subscription, error),
      overflowed: (subscription) => this.clients.overflowed(subscription),
      heldMax: { bytesMax: limits.outboundBufferBytes, messagesMax: limits.outboundMessages },
    });
    this.joinsAndLeaves = new CountedJoinsAndLeaves(router, logger, limits.askMs, new Tap());
    this.clients = new Clients({
      clock,
      router,
      limits,
      gate: this.joinsAndLeaves,
      feeds: this.feeds,
      sharedUnread: new SharedBytes(),
      left: () => {},
    });
  }

  /** A client that subscribes by its path. */
  connect(item?: string, how: { readonly conflate?: boolean; readonly since?: Since } = {}): FeedsClient {
    const socket = new FakeSocket();
    const { conflate = false, since } = how;
    const join = { subscriptionId: PATH_SUBSCRIPTION_ID, stream: 's', group: 'g', item, since, conflate };
    const client = {
      target: { kind: 'join', join } as const,
      address: '10.0.0.1',
      isBatched: false,
      context: RAW_NULL,
    };
    return new FeedsClient(this, socket, this.clients.connected(socket, client));
  }

  change(item_id: string, data: unknown): readonly StoreEvent[] {
    return this.store.run('stream::set', { ...GROUP, item_id, data }).events ?? [];
  }

  send(type: string): readonly StoreEvent[] {
    return this.store.run('stream::send', { ...GROUP, type, data: 1 }).events ?? [];
  }

  remove(item_id: string): readonly StoreEvent[] {
    return this.store.run('stream::delete', { ...GROUP, item_id }).events ?? [];
  }

  /** Answers the oldest request with the present content. */
  answerNext(): void {
    const [next] = this.asked.splice(0, 1);
    if (next === undefined) throw new Error('The store was asked nothing');
    next.answer(this.#snapshotFor(next));
  }

  /** Fails the oldest request. */
  failNext(): void {
    this.asked.splice(0, 1)[0]?.answer({ error: { code: 'STORAGE_CORRUPT', message: 'damaged' } });
  }

  #snapshotFor({ since, item }: Asked): StoreReply {
    return this.store.run('stream.subscribe', { ...GROUP, id: item ?? null, ...since });
  }

  flush(): void {
    this.engine.clock.flush();
  }
}

class CountedJoinsAndLeaves extends JoinsAndLeaves {
  leaveCount = 0;

  override leave(subscription: Subscription): void {
    this.leaveCount++;
    super.leave(subscription);
  }
}

export class FeedsClient {
  readonly socket: FakeSocket;
  readonly #events: SocketEvents;
  readonly #setup: FeedsInMemory;

  constructor(setup: FeedsInMemory, socket: FakeSocket, events: SocketEvents) {
    this.#setup = setup;
    this.#events = events;
    this.socket = socket;
    socket.whenEnded = (code) => events.closed(code);
  }

  say(message: object): void {
    this.#events.message(Buffer.from(JSON.stringify(message)), false);
  }

  /** Cuts the connection. */
  drop(): void {
    this.socket.markClosed();
    this.#events.closed(1006);
  }

  /** All received messages, as number and kind. */
  get heard(): readonly string[] {
    return this.messages.map(({ seq, event }) => `${seq} ${event.type}`);
  }

  get messages(): readonly ReadMessage[] {
    this.#setup.flush();
    return this.socket.texts.map((text) => JSON.parse(text));
  }
}
