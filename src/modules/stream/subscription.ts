// One subscription of one connection.
//
// States, and what moves it on:
//   joining  `stream:join` handlers are asked; events are nothing to it yet
//   reading  the store is asked for the snapshot, or for what was missed; events that happen meanwhile are held back
//   live     events are sent as they come
//   ended    left, refused, or its connection is gone
// Invariants:
//   B1  `seq` is the number up to which the subscriber knows the group. Only the next one may follow (T2).
//   B2  Events are held in `reading` only, and leave it behind the snapshot, from S+1 on (T3).
//   B3  Nothing is kept for it in its connection's backlog while it is `reading`: what it reads begins before that.

import type { RawJson } from '../../protocol/byte-string.ts';
import type { StoreEvent } from '../../store/contract.ts';
import type { StreamConnection } from './connection.ts';
import type { EventBatch } from './server-message.ts';
import type { JoinRequest, Since } from './target.ts';

export class Subscription {
  readonly id: string;
  readonly connection: StreamConnection;
  readonly stream: string;
  readonly group: string;
  readonly item: string | undefined;
  /** Where its connection is behind it takes the newest event of each item for all of them (T5). */
  readonly isConflated: boolean;
  state: 'joining' | 'reading' | 'live' | 'ended' = 'joining';
  seq = 0;
  epoch = '';
  /** How often the store was asked: only the last answer counts. */
  reads = 0;
  held: StoreEvent[] = [];
  heldBytes = 0;
  /** `stream:join` let it in: one `stream:leave` follows, whatever happens (T7). */
  isIn = false;

  constructor(connection: StreamConnection, { subscriptionId, stream, group, item, conflate }: JoinRequest) {
    this.connection = connection;
    this.id = subscriptionId;
    this.stream = stream;
    this.group = group;
    this.item = item;
    this.isConflated = conflate;
  }

  /** Where it has to be read on from. What is kept for it is given up (B3). */
  restart(): Since | undefined {
    const sentSeq = this.isConflated ? this.connection.dropKept(this) : undefined;
    const { epoch, seq } = this;
    if (epoch === '') return undefined;
    return sentSeq === undefined ? { epoch, seq, live: true } : { epoch, seq: sentSeq };
  }

  /** What follows what it was sent before. */
  send(events: EventBatch): void {
    if (this.isConflated) this.connection.sendNewest(this, events);
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

  wants({ place: [, , item] }: StoreEvent): boolean {
    return this.item === undefined || this.item === item;
  }

  get context(): RawJson {
    return this.connection.context;
  }
}
