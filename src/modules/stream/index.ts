// `svc-stream`: groups of items that clients watch over WebSocket. The path of an event: a function of `functions.ts`
// changes the store; the store numbers the event and returns it once it is durable; the module passes it to the feeds
// of its group, then to the triggers.

import { isDeepStrictEqual } from 'node:util';
import { asRawJson, bytesToByteString } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Cause, RawBuiltinDefinition } from '../../router/builtin.ts';
import { SWEPT_NOTHING } from '../../store/commands/stream/history.ts';
import { triggerMessage } from '../../store/commands/stream/messages.ts';
import type { Store, StoreEvent, StoreReply } from '../../store/thread/contract.ts';
import { ChangeJobs } from '../change-jobs.ts';
import { type ChosenStore, chooseStore } from '../chosen-store.ts';
import { ListeningPort } from '../listening-port.ts';
import {
  type ChosenAdapter,
  defineModule,
  type EngineModule,
  type ModuleContext,
  type ModuleHealth,
  type Reconfiguration,
} from '../module.ts';
import type { StreamSubscriber } from '../taps.ts';
import { StreamAdmission } from './admission.ts';
import { Clients, SNAPSHOTS_BYTES_MAX } from './clients.ts';
import { bridgeAdapter, kvAdapter, redisAdapter, type StreamConfig, streamDeclaration } from './config.ts';
import { CustomStreams } from './custom-streams.ts';
import { Feeds } from './feeds.ts';
import { streamFunctions } from './functions.ts';
import { JoinsAndLeaves } from './joins-and-leaves.ts';
import type { Subscription } from './subscription.ts';
import type { Since } from './target.ts';
import { GROUP_FIELDS, StreamTriggers } from './triggers.ts';

export const streamModule = defineModule({
  declaration: streamDeclaration,
  create: (context, config, adapter) => new StreamServer(context, config, adapter),
});

/** The interval of the search for groups that are no longer written to. */
const SWEEP_INTERVAL_MS = 15_000;
const NOTHING = new Uint8Array(0);
const SWEPT_ALL = Buffer.from(SWEPT_NOTHING);

class StreamServer implements EngineModule<StreamConfig> {
  readonly functions: readonly RawBuiltinDefinition[];
  readonly triggerTypes;
  readonly #context: ModuleContext;
  #config: StreamConfig;
  readonly #chosen: ChosenStore;
  readonly #store: Store;
  readonly #custom: CustomStreams;
  readonly #changes: StreamTriggers;
  readonly #jobs: ChangeJobs;
  readonly #feeds: Feeds;
  readonly #clients: Clients;
  readonly #admission: StreamAdmission;
  readonly #listening: ListeningPort;
  #stops: readonly (() => void)[] = [];

  constructor(context: ModuleContext, config: StreamConfig, adapter: ChosenAdapter | undefined) {
    const { clock, logger, router, settings } = context;
    const limits = settings.stream;
    this.#context = context;
    this.#config = config;
    const { host, port, tls } = config;
    this.#listening = new ListeningPort({ module: streamDeclaration.name, host, port, tls }, context);
    this.#chosen = chosenStore(context, adapter, (events, cause) => this.#publish(events, cause));
    this.#store = this.#chosen.store;
    this.#custom = new CustomStreams(router, this.#store, logger);
    const isOfThisMachine = this.#chosen.adapter === kvAdapter.name;
    const changes = { owner: 'stream', store: this.#store, isOfThisMachine, groupFields: GROUP_FIELDS };
    this.#jobs = new ChangeJobs({ ...changes, router, clock, logger });
    this.#changes = new StreamTriggers(this.#jobs, router.isDropIn, this.#chosen.follow);
    const joinsAndLeaves = new JoinsAndLeaves(router, logger, limits.askMs);
    this.#feeds = new Feeds({
      clock,
      read: (subject, since, done) => this.#read(subject, since, done),
      watch: (place, watcher) => this.#store.watch(place, watcher),
      failed: (subscription, error) => this.#clients.failed(subscription, error),
      overflowed: (subscription) => this.#clients.overflowed(subscription),
      heldMax: { bytesMax: limits.outboundBufferBytes, messagesMax: limits.outboundMessages },
    });
    context.taps.streamSubscribers = {
      of: (stream, group) => this.#subscribersOf(stream, group),
      groups: () => this.#feeds.subscribedGroups(),
    };
    this.#clients = new Clients({
      clock,
      tap: context.taps.streams,
      router,
      limits,
      joinsAndLeaves,
      feeds: this.#feeds,
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
      connected: (socket, client) => this.#clients.connected(socket, client),
    });
    this.functions = streamFunctions(this.#store, this.#custom, {
      changed: (events, cause) => this.#publish(events, cause),
      traceOf: (cause) => this.#jobs.traceOf(cause),
    });
    this.triggerTypes = [this.#changes, joinsAndLeaves.joins, joinsAndLeaves.leaves];
  }

  async start(): Promise<void> {
    await this.#chosen.start();
    this.#jobs.start();
    const { transport, settings, clock } = this.#context;
    const { frameBytes, outboundBufferBytes, valueBytes } = settings.stream;
    const { host, port } = this.#config;
    await this.#listening.open((tls) =>
      transport.listen({
        host,
        port,
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
    this.#stops = [this.#admission.start(), clock.every(SWEEP_INTERVAL_MS, () => this.#sweep())];
  }

  drain(): void {
    this.#listening.stopAccepting();
    // Calls of leave handlers are part of what the engine lets finish.
    this.#clients.stop();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#clients.stop();
    this.#jobs.stop();
    this.#listening.close();
    this.#chosen.stop();
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

  health(): ModuleHealth {
    const { trouble } = this.#store;
    const { status, details } = this.#listening.health();
    return {
      status: trouble === undefined ? status : 'unhealthy',
      adapter: this.#chosen.adapter,
      details: {
        connections: this.#clients.count,
        groups_watched: this.#feeds.groupCount,
        ...this.#store.details,
        ...details,
        ...(trouble !== undefined && { trouble }),
      },
    };
  }

  listeners() {
    return [this.#listening.address('streams', 'ws')];
  }

  /** Events caused through this engine: triggers fire only for these, because other engines fire for theirs. */
  #publish(events: readonly StoreEvent[], cause: Cause): void {
    this.#feeds.publish(events);
    this.#showEvents(events);
    for (const event of events) {
      const bindings = this.#changes.toCall(event);
      if (bindings.length === 0) continue;
      const [stream = '', group = ''] = event.path;
      this.#context.router.fire(bindings, this.#triggerPayload(event), cause, `${stream}\0${group}`);
    }
  }

  /** For watchers of the stream server as a whole. */
  #showEvents(events: readonly StoreEvent[]): void {
    const { streams: tap } = this.#context.taps;
    if (!tap.isWatched) return;
    for (const { path, kind, body, seq } of events) {
      const [stream = '', group = '', item] = path;
      const receivers = this.#feeds.subscribersOf(stream, group).size;
      tap.publish({ direction: 'outbound', stream, group, item, event: kind, body, seq, receivers });
    }
  }

  #subscribersOf(stream: string, group: string): StreamSubscriber[] {
    return [...this.#feeds.subscribersOf(stream, group)].map(({ id, connection, item }) => ({
      id,
      address: connection.address,
      sinceMs: connection.connectedAtMs,
      bufferedBytes: connection.bufferedBytes,
      item: item ?? null,
    }));
  }

  #triggerPayload(event: StoreEvent): Payload {
    const message = triggerMessage(event, this.#context.router.isDropIn);
    return Payload.ofText(asRawJson(bytesToByteString(message)));
  }

  #read(subject: Subscription, since: Since | undefined, done: (reply: StoreReply) => void): void {
    const { stream, group, item } = subject;
    const asked = { stream_name: stream, group_id: group, id: item ?? null, ...since };
    this.#store.run('stream.subscribe', Buffer.from(JSON.stringify(asked)), (reply) => {
      const standIn = this.#custom.standInFor(item === undefined ? 'stream::list' : 'stream::get', stream);
      if (standIn === undefined) done(reply);
      else this.#custom.snapshot(standIn, subject, reply, done);
    });
  }

  #sweep(): void {
    this.#store.run('stream.sweep', NOTHING, ({ error, result }) => {
      if (error !== undefined) this.#context.logger.warn('Old stream events could not be removed', { error });
      else if (result !== undefined && SWEPT_ALL.compare(result) !== 0) this.#sweep();
    });
  }
}

function chosenStore(
  context: ModuleContext,
  chosen: ChosenAdapter | undefined,
  changed: (events: readonly StoreEvent[], cause: Cause) => void,
): ChosenStore {
  const { valueBytes, historyEvents, historyMs, historyBytes } = context.settings.stream;
  return chooseStore(context, {
    chosen,
    kv: kvAdapter,
    redis: redisAdapter,
    purpose: 'streams',
    limits: {
      streamValueBytes: valueBytes,
      streamHistoryEvents: historyEvents,
      streamHistoryMs: historyMs,
      streamHistoryBytes: historyBytes,
    },
    isWatched: true,
    bridge: { declaration: bridgeAdapter, changed },
  });
}
