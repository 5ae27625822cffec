// `svc-stream`: groups of items that clients watch over WebSocket. The path of an event: a function of `functions.ts`
// changes the store; the store numbers the event and returns it once it is durable; the module passes it to the feeds
// of its group, then to the triggers.

import { asRawJson, bytesToByteString } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Cause, RawBuiltinDefinition } from '../../router/builtin.ts';
import { SWEPT_NOTHING } from '../../store/commands/stream/history.ts';
import { triggerMessage } from '../../store/commands/stream/messages.ts';
import type { Store, StoreEvent, StoreReply } from '../../store/thread/contract.ts';
import { ChangeJobs } from '../change-jobs.ts';
import { type ChosenStore, chooseStore } from '../chosen-store.ts';
import {
  type ChosenAdapter,
  defineModule,
  type EngineModule,
  type ModuleContext,
  type ModuleHealth,
  type Reconfiguration,
} from '../module.ts';
import { bridgeAdapter, kvAdapter, redisAdapter, type StreamConfig, streamDeclaration } from './config.ts';
import { CustomStreams, type SnapshotSubject } from './custom-streams.ts';
import { streamFunctions } from './functions.ts';
import { groupKey } from './group-key.ts';
import { JoinsAndLeaves } from './joins-and-leaves.ts';
import { FurtherStreams } from './outlets/further-streams.ts';
import { Outlets, type OutletsOptions } from './outlets/outlets.ts';
import { StreamPort, type StreamSource } from './port.ts';
import type { Since } from './target.ts';
import { GROUP_FIELDS, StreamTriggers } from './triggers.ts';

export const streamModule = defineModule({
  declaration: streamDeclaration,
  create(context, config, adapter) {
    const { home } = context.sharedStreams;
    return home === undefined ? new StreamServer(context, config, adapter) : new FurtherStreams(context, config, home);
  },
});

/** The interval of the search for groups that are no longer written to. */
const SWEEP_INTERVAL_MS = 15_000;
const NOTHING = new Uint8Array(0);
const SWEPT_ALL = Buffer.from(SWEPT_NOTHING);

class StreamServer implements EngineModule<StreamConfig> {
  readonly functions: readonly RawBuiltinDefinition[];
  readonly triggerTypes;
  readonly #context: ModuleContext;
  readonly #chosen: ChosenStore;
  readonly #store: Store;
  readonly #custom: CustomStreams;
  readonly #changes: StreamTriggers;
  readonly #jobs: ChangeJobs;
  readonly #port: StreamPort;
  /** The ports of further routers. */
  readonly #outlets: Outlets;
  #stopSweep = (): void => {};

  constructor(context: ModuleContext, config: StreamConfig, adapter: ChosenAdapter | undefined) {
    const { clock, logger, router, settings, taps } = context;
    this.#context = context;
    this.#chosen = chosenStore(context, adapter, (events, cause) => this.#publish(events, cause));
    this.#store = this.#chosen.store;
    this.#custom = new CustomStreams(router, this.#store, logger);
    const { outbox } = this.#chosen;
    const changes = { owner: 'stream', store: this.#store, outbox, groupFields: GROUP_FIELDS };
    this.#jobs = new ChangeJobs({ ...changes, router, clock, logger });
    this.#changes = new StreamTriggers(this.#jobs, router.isDropIn, this.#chosen.follow);
    const joinsAndLeaves = new JoinsAndLeaves(router, logger, settings.stream.askMs, taps.streams);
    const source: StreamSource & OutletsOptions = {
      gate: joinsAndLeaves,
      read: (subject, since, done) => this.#read(subject, since, done),
      watch: (group, watcher) => this.#store.watch(group, watcher),
    };
    this.#port = new StreamPort(context, config, source);
    this.#outlets = new Outlets(source);
    context.sharedStreams.offer(this.#outlets);
    taps.streamSubscribers = {
      of: async (stream, group) => [
        ...this.#port.subscribersOf({ stream, group }),
        ...(await this.#outlets.subscribersOf({ stream, group })),
      ],
      count: (stream, group) => this.#countSubscribers(stream, group),
      groups: () => [...this.#port.feeds.subscribedGroups(), ...this.#outlets.groups()],
    };
    this.functions = streamFunctions(this.#store, this.#custom, {
      changed: (events, cause) => this.#publish(events, cause),
      traceOf: (cause) => this.#jobs.traceOf(cause),
    });
    this.triggerTypes = [this.#changes, joinsAndLeaves.joins, joinsAndLeaves.leaves];
  }

  async start(): Promise<void> {
    await this.#chosen.start();
    this.#jobs.start();
    await this.#port.start();
    this.#stopSweep = this.#context.clock.every(SWEEP_INTERVAL_MS, () => this.#sweep());
  }

  drain(): void {
    this.#port.drain();
    this.#outlets.drain();
  }

  stop(): void {
    this.#stopSweep();
    this.#jobs.stop();
    this.#port.stop();
    this.#chosen.stop();
  }

  reconfigure(config: StreamConfig): Promise<Reconfiguration> {
    return this.#port.reconfigure(config);
  }

  refresh(): Promise<Reconfiguration> {
    return this.#port.refresh();
  }

  health(): ModuleHealth {
    const { trouble } = this.#store;
    const { status, details } = this.#port.health();
    const groups = new Set(
      [...this.#port.feeds.subscribedGroups(), ...this.#outlets.groups()].map(({ stream, group }) =>
        groupKey(stream, group),
      ),
    );
    return {
      status: trouble === undefined ? status : 'unhealthy',
      adapter: this.#chosen.adapter,
      details: {
        connections: this.#port.connections,
        groups_watched: groups.size,
        ...this.#store.details,
        ...details,
        ...(trouble !== undefined && { trouble }),
      },
    };
  }

  listeners() {
    return this.#port.listeners();
  }

  /** Events caused through this engine: triggers fire only for these, because other engines fire for theirs. */
  #publish(events: readonly StoreEvent[], cause: Cause): void {
    this.#outlets.publish(events);
    this.#port.feeds.publish(events);
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
      const receivers = this.#countSubscribers(stream, group);
      tap.publish({ direction: 'outbound', stream, group, item, event: kind, body, seq, receivers });
    }
  }

  #countSubscribers(stream: string, group: string): number {
    return this.#port.feeds.subscribersOf(stream, group).size + this.#outlets.count(stream, group);
  }

  #triggerPayload(event: StoreEvent): Payload {
    const message = triggerMessage(event, this.#context.router.isDropIn);
    return Payload.ofText(asRawJson(bytesToByteString(message)));
  }

  #read(subject: SnapshotSubject, since: Since | undefined, done: (reply: StoreReply) => void): void {
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
