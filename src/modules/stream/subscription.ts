// One subscription of one connection.
//
// States, and their transitions:
//   joining  `stream:join` handlers run; events do not reach it yet
//   reading  the store reads the snapshot, or the missed events; events that happen meanwhile are held back
//   live     events are sent as they come
//   ended    left, refused, or its connection is gone
// Invariants:
//   - `seq` is the number up to which the subscriber knows the group. Only the next one may follow (T2).
//   - Events are held in `reading` only, and are sent after the snapshot, from S+1 on (T3).
//   - Nothing is kept for it in its connection's backlog while it is `reading`: what it reads begins before that.

import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { GroupRef, StoreEvent } from '../../store/thread/contract.ts';
import type { StreamConnection } from './connection.ts';
import type { EventBatch } from './messages.ts';
import type { JoinRequest, Since } from './target.ts';

/** What others than its connection need to know of it. */
export interface Subscriber extends GroupRef {
  readonly id: string;
  readonly item: string | undefined;
  /** From the auth function, for handlers of joins and leaves. */
  readonly context: RawJson;
}

/** Decides who may subscribe. */
export interface SubscriptionGate {
  /** `done` is called once, at once or later. */
  join(subscription: Subscriber, done: (isIn: boolean) => void): void;
  /** Called once for each that was admitted. */
  leave(subscription: Subscriber): void;
}

export class Subscription implements Subscriber {
  readonly id: string;
  readonly connection: StreamConnection;
  readonly stream: string;
  readonly group: string;
  readonly item: string | undefined;
  /** If its connection is slow, it gets only the newest event of each item (T5). */
  readonly isConflated: boolean;
  state: 'joining' | 'reading' | 'live' | 'ended' = 'joining';
  seq = 0;
  epoch = '';
  /** The number of reads so far: only the answer of the last one counts. */
  reads = 0;
  held: StoreEvent[] = [];
  heldBytes = 0;
  /** `stream:join` admitted it: one `stream:leave` follows in any case (T7). */
  isIn = false;

  constructor(connection: StreamConnection, { subscriptionId, stream, group, item, conflate }: JoinRequest) {
    this.connection = connection;
    this.id = subscriptionId;
    this.stream = stream;
    this.group = group;
    this.item = item;
    this.isConflated = conflate;
  }

  /** The position to read on from. Events kept for it are dropped. */
  restart(): Since | undefined {
    const sentSeq = this.isConflated ? this.connection.dropKept(this.id) : undefined;
    const { epoch, seq } = this;
    if (epoch === '') return undefined;
    return sentSeq === undefined ? { epoch, seq, live: true } : { epoch, seq: sentSeq };
  }

  /** Sends what follows the events sent before. */
  send(events: EventBatch): void {
    if (this.isConflated) this.connection.sendNewest(this.id, events);
    else this.connection.send(events);
  }

  hold(events: readonly StoreEvent[]): void {
    this.held.push(...events);
    for (const { body } of events) this.heldBytes += body.length;
  }

  takeHeld(): readonly StoreEvent[] {
    const { held } = this;
    this.held = [];
    this.heldBytes = 0;
    return held;
  }

  wants({ path: [, , item] }: StoreEvent): boolean {
    return this.item === undefined || this.item === item;
  }

  get context(): RawJson {
    return this.connection.context;
  }
}
