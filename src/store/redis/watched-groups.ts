// The groups with a follower in this engine: the engine subscribes to these and to no others.

import type { Logger } from '../../effects/logger.ts';
import type { RedisLink } from '../../effects/redis.ts';
import type { GroupPlace } from '../commands/stream/place.ts';
import type { GroupWatcher } from '../thread/contract.ts';
import { type PlacedEvent, type Position, readMessage } from './stream-events.ts';
import { groupKeys, memberOf } from './stream-keys.ts';
import { type HistoryPart, isSetBack, WatchedGroup } from './watched-group.ts';

export interface WatchedGroupsParts {
  readonly link: Pick<RedisLink, 'subscribe' | 'unsubscribe'>;
  readonly keyPrefix: string;
  readonly logger: Logger;
  readonly eventsFrom: (place: GroupPlace, seq: number) => Promise<HistoryPart>;
  /** The store was set back to a moment before something that was acknowledged. */
  readonly beginEpoch: () => Promise<void>;
}

interface Watched {
  readonly group: WatchedGroup;
  /** Resolves when every later event will arrive. */
  readonly ready: Promise<void>;
}

export class WatchedGroups {
  readonly #parts: WatchedGroupsParts;
  readonly #groups = new Map<string, Watched>();

  constructor(parts: WatchedGroupsParts) {
    this.#parts = parts;
  }

  /** Returns a function that ends it. The limit is one watcher for each group. */
  watch(place: GroupPlace, watcher: GroupWatcher): () => void {
    const { link, keyPrefix } = this.#parts;
    const member = memberOf(place);
    if (this.#groups.has(member)) throw new Error(`Group ${place.group} of ${place.stream} is watched already`);
    const group = new WatchedGroup({ watcher, eventsFrom: (at) => this.#eventsFrom(place, at) });
    const { channel } = groupKeys(keyPrefix, place);
    const listener = (message: Buffer): void => this.#arrived(place, group, message);
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
  async ready(place: GroupPlace): Promise<void> {
    await this.#groups.get(memberOf(place))?.ready;
  }

  begin(place: GroupPlace, at: Position): void {
    this.#groups.get(memberOf(place))?.group.begin(at);
  }

  /** Called before an own write is answered. */
  async settle(place: GroupPlace, placed: PlacedEvent): Promise<void> {
    await this.#groups.get(memberOf(place))?.group.settle(placed);
  }

  /** The connection was away: what was published meanwhile did not arrive. */
  fillAll(): void {
    for (const { group } of this.#groups.values()) void group.fill();
  }

  async #eventsFrom(place: GroupPlace, from: Position): Promise<HistoryPart | undefined> {
    const { eventsFrom, beginEpoch, logger } = this.#parts;
    try {
      const part = await eventsFrom(place, from.seq);
      if (!isSetBack(from, part)) return part;
      logger.error('The Redis of a store was set back: acknowledged changes are lost', { ...place, seq: part.at.seq });
      await beginEpoch();
      return await eventsFrom(place, from.seq);
    } catch (error) {
      logger.warn('Missed events of a group could not be read', { ...place, error: String(error) });
      return undefined;
    }
  }

  #arrived(place: GroupPlace, group: WatchedGroup, message: Buffer): void {
    try {
      group.arrived(readMessage(place, message));
    } catch (error) {
      this.#parts.logger.warn('A message for a group could not be read', { ...place, error: String(error) });
    }
  }
}
