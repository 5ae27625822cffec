// The groups with a follower in this engine, while other engines write to them too. The engine subscribes to these
// groups and to no others.
//
// Events arrive in two ways: published ones over the subscribed connection, and those of this engine's own writes with
// their answers. Either may be ahead of the other, and events published while the connection is away are lost.
//
// Invariants:
//   - The watcher gets every event once, in the order of the numbers, or a notice to read the group again (T2).
//   - When an own write is answered, its event has been passed on (T1).

import type { Logger } from '../../effects/logger.ts';
import type { RedisLink } from '../../effects/redis.ts';
import type { GroupRef, GroupWatcher } from '../thread/contract.ts';
import { type Position, type RecordedEvent, readMessage } from './stream-events.ts';
import { groupKeys, memberOf } from './stream-keys.ts';

export interface HistoryPart {
  /** The position of the group. */
  readonly at: Position;
  /** The kept events from the requested number on. */
  readonly events: readonly RecordedEvent[];
}

interface WatchedGroupOptions {
  readonly watcher: GroupWatcher;
  /** `undefined` while Redis is away: when it is back, `fill` is called again. */
  readonly eventsFrom: (from: Position) => Promise<HistoryPart | undefined>;
}

export class WatchedGroup {
  readonly #options: WatchedGroupOptions;
  /** The position up to which everything was passed on; `undefined`: nothing has happened yet. */
  #at: Position | undefined;
  #filling: Promise<void> | undefined;
  /** Events that came while the history was read. */
  #held: RecordedEvent[] = [];
  #isClosed = false;

  constructor(options: WatchedGroupOptions) {
    this.#options = options;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** A subscriber reads the group at this position: from here on no event may be missing. */
  begin(at: Position): void {
    if (this.#at === undefined) this.#at = at;
    else if (this.#at.epoch !== at.epoch) this.#reset(at);
  }

  /** An event was published. */
  arrived(placed: RecordedEvent): void {
    if (this.#filling !== undefined) this.#held.push(placed);
    else if (this.#isNext(placed.at)) this.#pass(placed);
    else if (this.#isAhead(placed.at)) void this.fill();
  }

  /** An own write is about to be answered. */
  async settle(placed: RecordedEvent): Promise<void> {
    while (this.#filling !== undefined) await this.#filling;
    if (this.#isNext(placed.at)) this.#pass(placed);
    else if (this.#isAhead(placed.at)) await this.fill();
  }

  /** An event may be missing: reads what happened since. */
  fill(): Promise<void> {
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
      for (const placed of this.#held.splice(0)) this.arrived(placed);
    });
    return this.#filling;
  }

  async #fill(): Promise<void> {
    const from = this.#at;
    if (from === undefined || this.#isClosed) return;
    const part = await this.#options.eventsFrom(from);
    if (part === undefined) return;
    if (!continues(from, part)) return this.#reset(part.at);
    for (const placed of part.events) if (placed.at.seq > from.seq) this.#pass(placed);
  }

  #pass(placed: RecordedEvent): void {
    this.#at = placed.at;
    if (!this.#isClosed) this.#options.watcher.event(placed.event);
  }

  #reset(at: Position): void {
    this.#at = at;
    if (!this.#isClosed) this.#options.watcher.reset();
  }

  #isNext({ epoch, seq }: Position): boolean {
    return this.#at === undefined || (this.#at.epoch === epoch && this.#at.seq + 1 === seq);
  }

  /** Older events were passed on before; another epoch starts from the beginning. */
  #isAhead({ epoch, seq }: Position): boolean {
    return this.#at !== undefined && (this.#at.epoch !== epoch || this.#at.seq < seq);
  }
}

/** Whether the store no longer has our position, or gave our number to another event, as after a failover. */
export function isSetBack(from: Position, { at, events }: HistoryPart): boolean {
  if (at.epoch !== from.epoch || at.tag === '' || from.tag === '') return false;
  if (at.seq <= from.seq) return at.seq < from.seq || at.tag !== from.tag;
  const [first] = events;
  return first?.at.seq === from.seq && first.at.tag !== from.tag;
}

/** Whether these are all the events that follow. */
function continues(from: Position, { at, events }: HistoryPart): boolean {
  if (at.epoch !== from.epoch || at.seq <= from.seq) return at.epoch === from.epoch && at.seq === from.seq;
  const [first] = events;
  return first !== undefined && first.at.seq <= from.seq + 1;
}

interface WatchedGroupsOptions {
  readonly link: Pick<RedisLink, 'subscribe' | 'unsubscribe'>;
  readonly keyPrefix: string;
  readonly logger: Logger;
  readonly eventsFrom: (ref: GroupRef, seq: number) => Promise<HistoryPart>;
  /** The store was set back to a moment before something that was acknowledged. */
  readonly beginEpoch: () => Promise<void>;
}

interface Watched {
  readonly group: WatchedGroup;
  /** Resolves when every later event will arrive. */
  readonly ready: Promise<void>;
}

export class WatchedGroups {
  readonly #options: WatchedGroupsOptions;
  readonly #groups = new Map<string, Watched>();

  constructor(options: WatchedGroupsOptions) {
    this.#options = options;
  }

  /** Returns a function that ends it. The limit is one watcher for each group. */
  watch(ref: GroupRef, watcher: GroupWatcher): () => void {
    const { link, keyPrefix } = this.#options;
    const member = memberOf(ref);
    if (this.#groups.has(member)) throw new Error(`Group ${ref.group} of ${ref.stream} is watched already`);
    const group = new WatchedGroup({ watcher, eventsFrom: (at) => this.#eventsFrom(ref, at) });
    const { channel } = groupKeys(keyPrefix, ref);
    const listener = (message: Buffer): void => this.#arrived(ref, group, message);
    const ready = link.subscribe(channel, listener);
    // The read of the group reports the failure; nothing else waits for it.
    ready.catch(() => {});
    this.#groups.set(member, { group, ready });
    return () => {
      this.#groups.delete(member);
      group.close();
      // Sent after the subscription. If the connection breaks, the subscription is gone anyway.
      ready.then(() => link.unsubscribe(channel, listener)).catch(() => {});
    };
  }

  /** Called before a group is read that may be watched. Rejects when its events would not arrive. */
  async ready(ref: GroupRef): Promise<void> {
    await this.#groups.get(memberOf(ref))?.ready;
  }

  begin(ref: GroupRef, at: Position): void {
    this.#groups.get(memberOf(ref))?.group.begin(at);
  }

  /** Called before an own write is answered. */
  async settle(ref: GroupRef, recorded: RecordedEvent): Promise<void> {
    await this.#groups.get(memberOf(ref))?.group.settle(recorded);
  }

  /** The connection was away: what was published meanwhile did not arrive. */
  fillAll(): void {
    for (const { group } of this.#groups.values()) void group.fill();
  }

  async #eventsFrom(ref: GroupRef, from: Position): Promise<HistoryPart | undefined> {
    const { eventsFrom, beginEpoch, logger } = this.#options;
    try {
      const part = await eventsFrom(ref, from.seq);
      if (!isSetBack(from, part)) return part;
      logger.error('The Redis of a store was set back: acknowledged changes are lost', { ...ref, seq: part.at.seq });
      await beginEpoch();
      return await eventsFrom(ref, from.seq);
    } catch (error) {
      logger.warn('Missed events of a group could not be read', { ...ref, error: String(error) });
      return undefined;
    }
  }

  #arrived(ref: GroupRef, group: WatchedGroup, message: Buffer): void {
    try {
      group.arrived(readMessage(ref, message));
    } catch (error) {
      this.#options.logger.warn('A message for a group could not be read', { ...ref, error: String(error) });
    }
  }
}
