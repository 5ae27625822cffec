// Moves events from the store to the subscribers of their group.
//
// It gathers the events of a turn and sends them to each subscriber in one write, built once for all (T6). It reads the
// snapshot of a new subscriber and adds the subscriber at the right place (T3). It reads missing events when numbers
// jump (T2).
// Neighbours: the store numbers events, `joins-and-leaves.ts` decides who may subscribe, `connection.ts` sends.
// Invariants:
//   - A feed exists exactly while a subscriber is reading or live in its group. During that time the store reports to
//     it what other engines do there.
//   - An event reaches a live subscriber only if its number follows the one before. A smaller one was part of the
//     snapshot; a larger one makes the subscriber read again from its position.

import type { Clock } from '../../effects/clock.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import type { GroupRef, GroupWatcher, StoreEvent, StoreReply } from '../../store/thread/contract.ts';
import { groupKey } from './group-key.ts';
import { EventBatch } from './messages.ts';
import type { Subscription } from './subscription.ts';
import type { Since } from './target.ts';

export interface FeedsOptions {
  readonly clock: Clock;
  /** Reads the first messages of a subscriber: `stream.subscribe` of the store, or a custom stream. */
  read(subject: Subscription, since: Since | undefined, done: (reply: StoreReply) => void): void;
  /** Makes the store report what other engines do in the group; returns a function that ends it. */
  watch(ref: GroupRef, watcher: GroupWatcher): () => void;
  /** The store could not read the group. */
  failed(subscription: Subscription, error: ErrorBody): void;
  /** More is held back for it than its limit of unread bytes. */
  overflowed(subscription: Subscription): void;
  readonly heldMax: { readonly bytesMax: number; readonly messagesMax: number };
}

interface Feed {
  readonly subscribers: Set<Subscription>;
  /** Events of this turn, in their order. */
  pending: StoreEvent[];
  /** Number of the last event. Events of this engine come twice if other engines share the store. */
  seq: number;
  readonly unwatch: () => void;
}

export class Feeds {
  readonly #options: FeedsOptions;
  readonly #feeds = new Map<string, Feed>();
  #waiting: Feed[] = [];

  constructor(options: FeedsOptions) {
    this.#options = options;
  }

  get groupCount(): number {
    return this.#feeds.size;
  }

  /** Subscribers of one group that are live or about to be. */
  subscribersOf(stream: string, group: string): ReadonlySet<Subscription> {
    return this.#feeds.get(groupKey(stream, group))?.subscribers ?? NO_SUBSCRIBERS;
  }

  /** The groups that have subscribers. */
  subscribedGroups(): GroupRef[] {
    return [...this.#feeds.values()].flatMap(({ subscribers }) => {
      const [first] = subscribers;
      return first === undefined ? [] : [{ stream: first.stream, group: first.group }];
    });
  }

  /** Publishes events in the order of their numbers, whatever caused them. */
  publish(events: readonly StoreEvent[]): void {
    for (const event of events) {
      const feed = this.#feeds.get(groupKey(event.path[0], event.path[1]));
      if (feed === undefined || event.seq <= feed.seq) continue;
      feed.seq = event.seq;
      if (feed.pending.push(event) > 1) continue;
      if (this.#waiting.push(feed) === 1) this.#options.clock.afterTurn(() => this.#flush());
    }
  }

  /** The subscriber gets the present content, then everything that happens. */
  open(subscription: Subscription, since: Since | undefined): void {
    const key = groupKey(subscription.stream, subscription.group);
    let feed = this.#feeds.get(key);
    if (feed === undefined) {
      feed = { subscribers: new Set(), pending: [], seq: 0, unwatch: this.#watch(subscription) };
      this.#feeds.set(key, feed);
    }
    feed.subscribers.add(subscription);
    this.#read(subscription, since);
  }

  close(subscription: Subscription): void {
    const key = groupKey(subscription.stream, subscription.group);
    const feed = this.#feeds.get(key);
    if (!feed?.subscribers.delete(subscription) || feed.subscribers.size > 0) return;
    this.#feeds.delete(key);
    feed.unwatch();
  }

  #watch({ stream, group }: Subscription): () => void {
    return this.#options.watch(
      { stream, group },
      {
        event: (event) => this.publish([event]),
        reset: () => this.#reset(groupKey(stream, group)),
      },
    );
  }

  /** Numbers restart, or events are lost: every subscriber reads again, without mixing in earlier events. */
  #reset(key: string): void {
    const feed = this.#feeds.get(key);
    if (feed === undefined) return;
    feed.seq = 0;
    feed.pending = [];
    for (const subscription of feed.subscribers) {
      subscription.takeHeld();
      this.#read(subscription, subscription.restart());
    }
  }

  #read(subscription: Subscription, since: Since | undefined): void {
    subscription.state = 'reading';
    const read = ++subscription.reads;
    this.#options.read(subscription, since, (reply) => {
      if (subscription.state !== 'reading' || subscription.reads !== read) return;
      if (reply.error !== undefined) this.#options.failed(subscription, reply.error);
      else this.#goLive(subscription, reply);
    });
  }

  #goLive(subscription: Subscription, { events = [], result }: StoreReply): void {
    subscription.state = 'live';
    const { epoch, seq } = positionIn(result);
    subscription.epoch = epoch;
    subscription.seq = seq;
    subscription.connection.send(new EventBatch(events), true);
    this.#follow(subscription, subscription.takeHeld());
  }

  /** Sends events in number order, for one subscriber alone; the common case is in `#flushFeed`. */
  #follow(subscription: Subscription, events: readonly StoreEvent[]): void {
    const fresh = events.filter(({ seq }) => seq > subscription.seq);
    const [first] = fresh;
    const last = fresh.at(-1);
    if (first === undefined || last === undefined) return;
    if (first.seq !== subscription.seq + 1 || !isUnbroken(fresh)) {
      subscription.hold(fresh);
      this.#read(subscription, subscription.restart());
      return;
    }
    subscription.seq = last.seq;
    const wanted = fresh.filter((event) => subscription.wants(event));
    if (wanted.length > 0) subscription.send(new EventBatch(wanted));
  }

  #flush(): void {
    const feeds = this.#waiting;
    this.#waiting = [];
    for (const feed of feeds) {
      const events = feed.pending;
      feed.pending = [];
      this.#flushFeed(feed, events);
    }
  }

  #flushFeed({ subscribers }: Feed, events: readonly StoreEvent[]): void {
    const before = (events[0]?.seq ?? 0) - 1;
    const after = isUnbroken(events) ? (events.at(-1)?.seq ?? 0) : undefined;
    const batches = new BatchesByItem(events);
    for (const subscription of subscribers) {
      if (subscription.state === 'reading') this.#hold(subscription, events);
      else if (subscription.seq !== before || after === undefined) this.#follow(subscription, events);
      else {
        subscription.seq = after;
        const batch = batches.for(subscription.item);
        if (batch.count > 0) subscription.send(batch);
      }
    }
  }

  #hold(subscription: Subscription, events: readonly StoreEvent[]): void {
    subscription.hold(events);
    const { bytesMax, messagesMax } = this.#options.heldMax;
    if (subscription.heldBytes > bytesMax || subscription.held.length > messagesMax) {
      this.#options.overflowed(subscription);
    }
  }
}

/** The messages for subscribers of a group, and of one item of it: built when the first of them needs it. */
class BatchesByItem {
  readonly #events: readonly StoreEvent[];
  readonly #batches = new Map<string | undefined, EventBatch>();

  constructor(events: readonly StoreEvent[]) {
    this.#events = events;
  }

  for(item: string | undefined): EventBatch {
    let batch = this.#batches.get(item);
    if (batch === undefined) {
      const events = this.#events;
      batch = new EventBatch(item === undefined ? events : events.filter(({ path }) => path[2] === item));
      this.#batches.set(item, batch);
    }
    return batch;
  }
}

/** The position of a snapshot, which the answer of the store contains. */
function positionIn(result: Uint8Array | undefined): Since {
  const position: unknown = result && JSON.parse(Buffer.from(result).toString('utf8'));
  if (typeof position === 'object' && position !== null && 'epoch' in position && 'seq' in position) {
    const { epoch, seq } = position;
    if (typeof epoch === 'string' && typeof seq === 'number') return { epoch, seq };
  }
  throw new Error('A subscription was answered without its position');
}

function isUnbroken(events: readonly StoreEvent[]): boolean {
  return events.every(({ seq }, index) => index === 0 || seq === (events[index - 1]?.seq ?? 0) + 1);
}

const NO_SUBSCRIBERS: ReadonlySet<Subscription> = new Set();
