// A (stream, group) with a follower in this engine, while other engines write to it too.
//
// Events arrive in two ways: published ones over the subscribed connection, and those of this engine's own writes with
// their answers. Either may be ahead of the other, and events published while the connection is away are lost.
//
// Invariants:
//   - The watcher gets every event once, in the order of the numbers, or a notice to read the group again (T2).
//   - When an own write is answered, its event has been passed on (T1).

import type { GroupWatcher } from '../thread/contract.ts';
import type { PlacedEvent, Position } from './stream-events.ts';

export interface HistoryPart {
  /** The position of the group. */
  readonly at: Position;
  /** The kept events from the requested number on. */
  readonly events: readonly PlacedEvent[];
}

export interface WatchedGroupParts {
  readonly watcher: GroupWatcher;
  /** `undefined` while Redis is away: when it is back, `fill` is called again. */
  readonly eventsFrom: (from: Position) => Promise<HistoryPart | undefined>;
}

export class WatchedGroup {
  readonly #parts: WatchedGroupParts;
  /** The position up to which everything was passed on; `undefined`: nothing has happened yet. */
  #at: Position | undefined;
  #filling: Promise<void> | undefined;
  /** Events that came while the history was read. */
  #held: PlacedEvent[] = [];
  #isClosed = false;

  constructor(parts: WatchedGroupParts) {
    this.#parts = parts;
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
  arrived(placed: PlacedEvent): void {
    if (this.#filling !== undefined) this.#held.push(placed);
    else if (this.#isNext(placed.at)) this.#pass(placed);
    else if (this.#isAhead(placed.at)) void this.fill();
  }

  /** An own write is about to be answered. */
  async settle(placed: PlacedEvent): Promise<void> {
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
    const part = await this.#parts.eventsFrom(from);
    if (part === undefined) return;
    if (!continues(from, part)) return this.#reset(part.at);
    for (const placed of part.events) if (placed.at.seq > from.seq) this.#pass(placed);
  }

  #pass(placed: PlacedEvent): void {
    this.#at = placed.at;
    if (!this.#isClosed) this.#parts.watcher.event(placed.event);
  }

  #reset(at: Position): void {
    this.#at = at;
    if (!this.#isClosed) this.#parts.watcher.reset();
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
