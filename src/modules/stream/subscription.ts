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

import type { RawJson } from '../../protocol/byte-string.ts';
import type { StoreEvent } from '../../store/contract.ts';
import type { StreamConnection } from './connection.ts';
import type { JoinRequest, Since } from './target.ts';

export class Subscription {
  readonly id: string;
  readonly connection: StreamConnection;
  readonly stream: string;
  readonly group: string;
  readonly item: string | undefined;
  state: 'joining' | 'reading' | 'live' | 'ended' = 'joining';
  seq = 0;
  epoch = '';
  /** How often the store was asked: only the last answer counts. */
  reads = 0;
  held: StoreEvent[] = [];
  heldBytes = 0;
  /** `stream:join` let it in: one `stream:leave` follows, whatever happens (T7). */
  isIn = false;

  constructor(connection: StreamConnection, { subscriptionId, stream, group, item }: JoinRequest) {
    this.connection = connection;
    this.id = subscriptionId;
    this.stream = stream;
    this.group = group;
    this.item = item;
  }

  get since(): Since | undefined {
    return this.epoch === '' ? undefined : { epoch: this.epoch, seq: this.seq, live: true };
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
