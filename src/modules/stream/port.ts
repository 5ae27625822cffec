// The stream port of one router: it admits clients, and sends them the snapshots and events of a source, which is on
// this router or on the first one.

import { isDeepStrictEqual } from 'node:util';
import type { GroupRef, GroupWatcher, StoreReply } from '../../store/thread/contract.ts';
import { ListeningPort } from '../listening-port.ts';
import type { ListenerAddress, ModuleContext, Reconfiguration } from '../module.ts';
import type { StreamSubscriber } from '../taps.ts';
import { StreamAdmission } from './admission.ts';
import { Clients, SNAPSHOTS_BYTES_MAX } from './clients.ts';
import { type StreamConfig, streamDeclaration } from './config.ts';
import { Feeds } from './feeds.ts';
import type { Subscription, SubscriptionGate } from './subscription.ts';
import type { Since } from './target.ts';

export interface StreamSource {
  readonly gate: SubscriptionGate;
  /** Reads the first messages of a subscriber. */
  read(subject: Subscription, since: Since | undefined, done: (reply: StoreReply) => void): void;
  watch(group: GroupRef, watcher: GroupWatcher): () => void;
}

export class StreamPort {
  readonly feeds: Feeds;
  readonly #context: ModuleContext;
  #config: StreamConfig;
  readonly #clients: Clients;
  readonly #admission: StreamAdmission;
  readonly #listening: ListeningPort;
  #stopAdmission = (): void => {};

  constructor(context: ModuleContext, config: StreamConfig, source: StreamSource) {
    const { clock, router, settings, processCounts } = context;
    const limits = settings.stream;
    this.#context = context;
    this.#config = config;
    const { host, port, tls } = config;
    this.#listening = new ListeningPort({ module: streamDeclaration.name, host, port, tls }, context);
    this.feeds = new Feeds({
      clock,
      read: (subject, since, done) => source.read(subject, since, done),
      watch: (group, watcher) => source.watch(group, watcher),
      failed: (subscription, error) => this.#clients.failed(subscription, error),
      overflowed: (subscription) => this.#clients.overflowed(subscription),
      heldMax: { bytesMax: limits.outboundBufferBytes, messagesMax: limits.outboundMessages },
    });
    this.#clients = new Clients({
      ...{ clock, router, limits, gate: source.gate, feeds: this.feeds },
      sharedUnread: processCounts.bytesOf('unread of streams'),
      left: (address) => this.#admission.left(address),
    });
    this.#admission = new StreamAdmission({
      router,
      clock,
      origins: {
        boundHost: config.host,
        allowedHosts: settings.allowedHosts.map((name) => name.toLowerCase()),
        allowedOrigins: config.allowed_origins.map((origin) => origin.toLowerCase()),
        servesOwnPages: true,
      },
      trustedProxies: settings.trustedProxies,
      authFunction: config.auth_function,
      limits,
      shared: processCounts.ofStreamPort(),
      connected: (socket, client) => this.#clients.connected(socket, client),
    });
  }

  async start(): Promise<void> {
    const { transport, settings } = this.#context;
    const { frameBytes, outboundBufferBytes, valueBytes } = settings.stream;
    const { host, port } = this.#config;
    await this.#listening.open((tls) =>
      transport.listen({
        host,
        port,
        sharing: settings.portSharing,
        tls,
        frameBytesMax: frameBytes,
        // Our own limits plus one message of maximum size, with a margin: the library must never drop what our own
        // accounting still allows (L5).
        bufferedBytesMax: 2 * outboundBufferBytes + 2 * SNAPSHOTS_BYTES_MAX + 4 * valueBytes,
        admit: (request) => this.#admission.admit(request),
        connected: () => {
          throw new Error('An admitted stream connection has no listener');
        },
      }),
    );
    this.#clients.start();
    this.#stopAdmission = this.#admission.start();
  }

  drain(): void {
    this.#listening.stopAccepting();
    // Calls of leave handlers are part of what the engine lets finish.
    this.#clients.stop();
  }

  stop(): void {
    this.#stopAdmission();
    this.#clients.stop();
    this.#listening.close();
  }

  /** Only its certificate can change while it runs. */
  async reconfigure(config: StreamConfig): Promise<Reconfiguration> {
    const fixed = Object.entries(config).filter(
      ([key, value]) => key !== 'tls' && !isDeepStrictEqual(value, Reflect.get(this.#config, key)),
    );
    if (fixed.length > 0) {
      const keys = fixed.map(([key]) => key).join(', ');
      return { ok: false, reason: `${keys} can only change with a new start of the engine` };
    }
    const tls = await this.#listening.reconfigure(config.tls);
    if (!tls.ok) return tls;
    const commit = (): void => {
      tls.commit();
      this.#config = config;
    };
    return { ...tls, commit };
  }

  refresh(): Promise<Reconfiguration> {
    return this.#listening.refresh();
  }

  health() {
    return this.#listening.health();
  }

  /** The connections of all routers. */
  get connections(): number {
    return this.#clients.count + this.#context.processCounts.of('stream connections').elsewhere;
  }

  listeners(): readonly ListenerAddress[] {
    return [this.#listening.address('streams', 'ws')];
  }

  subscribersOf({ stream, group }: GroupRef): StreamSubscriber[] {
    return [...this.feeds.subscribersOf(stream, group)].map(({ id, connection, item }) => ({
      id,
      address: connection.address,
      sinceMs: connection.connectedAtMs,
      bufferedBytes: connection.bufferedBytes,
      item: item ?? null,
    }));
  }
}
