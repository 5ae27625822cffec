// The stream ports of the further routers, as the first router sees them: each is one subscriber of every group in
// which it has clients.
//
// An event is sent once to each port with a subscriber in its group, before the change is answered (T1). A port that is
// too far back misses events until it has caught up; then its subscribers read what they missed, as after any gap (T2).

import { bytesToByteString } from '../../../protocol/json/byte-string.ts';
import type { GroupRef, GroupWatcher, StoreEvent, StoreReply } from '../../../store/thread/contract.ts';
import type { StreamOwner } from '../../shared-streams.ts';
import type { StreamSubscriber } from '../../taps.ts';
import type { SnapshotSubject } from '../custom-streams.ts';
import { groupKey } from '../group-key.ts';
import type { Subscriber, SubscriptionGate } from '../subscription.ts';
import type { Since } from '../target.ts';
import type { FromOutlet, PassedEvent, ToOutlet } from './messages.ts';

export interface OutletsOptions {
  readonly gate: SubscriptionGate;
  read(subject: SnapshotSubject, since: Since | undefined, done: (reply: StoreReply) => void): void;
  watch(group: GroupRef, watcher: GroupWatcher): () => void;
}

/** Events that a port has not handled yet. */
const AWAY_BYTES_MAX = 16 * 1024 * 1024;
/** A port that was too far back gets events again from here on. */
const CAUGHT_UP_BYTES = 1024 * 1024;
/** Of an event without its text. */
const EVENT_BYTES = 128;

export class Outlets implements StreamOwner {
  readonly #options: OutletsOptions;
  readonly #outlets: Outlet[] = [];

  constructor(options: OutletsOptions) {
    this.#options = options;
  }

  connect(send: (message: ToOutlet) => void): (message: FromOutlet) => void {
    const outlet = new Outlet(this.#options, send);
    this.#outlets.push(outlet);
    return (message) => outlet.take(message);
  }

  publish(events: readonly StoreEvent[]): void {
    for (const outlet of this.#outlets) outlet.publish(events);
  }

  /** The number of subscribers of a group. */
  count(stream: string, group: string): number {
    return this.#outlets.reduce((sum, outlet) => sum + outlet.count(groupKey(stream, group)), 0);
  }

  groups(): GroupRef[] {
    return this.#outlets.flatMap((outlet) => outlet.groups());
  }

  async subscribersOf(group: GroupRef): Promise<StreamSubscriber[]> {
    return (await Promise.all(this.#outlets.map((outlet) => outlet.subscribersOf(group)))).flat();
  }

  /** The leave events of all subscriptions are on their way when this returns. */
  drain(): void {
    for (const outlet of this.#outlets) outlet.drain();
  }
}

class Outlet {
  readonly #options: OutletsOptions;
  readonly #send: (message: ToOutlet) => void;
  /** Ends the watching of a group. */
  readonly #watched = new Map<string, () => void>();
  /** Subscriptions that were admitted, and how many of them each group has. */
  readonly #admitted = new Map<number, Subscriber>();
  readonly #counts = new Map<string, number>();
  readonly #asked: ((subscribers: readonly StreamSubscriber[]) => void)[] = [];
  #awayBytes = 0;
  #isTooFarBack = false;
  #isDraining = false;

  constructor(options: OutletsOptions, send: (message: ToOutlet) => void) {
    this.#options = options;
    this.#send = send;
  }

  take(message: FromOutlet): void {
    switch (message.kind) {
      case 'join':
        return this.#join(message.number, message.subscriber);
      case 'leave':
        return this.#leave(message.number);
      case 'watch':
        return this.#watch(message.group);
      case 'unwatch': {
        const key = keyOf(message.group);
        this.#watched.get(key)?.();
        return void this.#watched.delete(key);
      }
      case 'read':
        return this.#options.read(message.subject, message.since, ({ result, error, events = [] }) => {
          const reply = {
            ...(result !== undefined && { result: new Uint8Array(result) }),
            ...(error !== undefined && { error }),
            events: events.map(passed),
          };
          this.#send({ kind: 'read', number: message.number, reply });
        });
      case 'taken':
        this.#awayBytes -= message.bytes;
        return this.#caughtUp();
      case 'subscribers':
        // Answers come in the order of the questions.
        return this.#asked.shift()?.(message.subscribers);
    }
  }

  publish(events: readonly StoreEvent[]): void {
    if (this.#watched.size === 0) return;
    const wanted = events.filter(({ path }) => this.#watched.has(groupKey(path[0], path[1])));
    if (wanted.length === 0 || this.#isTooFarBack) return;
    const bytes = wanted.reduce((sum, { body }) => sum + EVENT_BYTES + body.length, 0);
    this.#isTooFarBack = this.#awayBytes > 0 && this.#awayBytes + bytes > AWAY_BYTES_MAX;
    if (this.#isTooFarBack) return;
    this.#awayBytes += bytes;
    this.#send({ kind: 'events', events: wanted.map(passed), bytes });
  }

  count(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  groups(): GroupRef[] {
    const groups = new Map<string, GroupRef>();
    for (const { stream, group } of this.#admitted.values()) groups.set(groupKey(stream, group), { stream, group });
    return [...groups.values()];
  }

  subscribersOf(group: GroupRef): Promise<readonly StreamSubscriber[]> {
    if (this.count(keyOf(group)) === 0) return Promise.resolve([]);
    this.#send({ kind: 'subscribers', group });
    return new Promise((resolve) => this.#asked.push(resolve));
  }

  drain(): void {
    this.#isDraining = true;
    for (const number of [...this.#admitted.keys()]) this.#leave(number);
  }

  #join(number: number, subscriber: Subscriber): void {
    const { gate } = this.#options;
    gate.join(subscriber, (isIn) => {
      if (isIn && this.#isDraining) gate.leave(subscriber);
      else if (isIn) this.#admit(number, subscriber);
      this.#send({ kind: 'joined', number, isIn });
    });
  }

  #admit(number: number, subscriber: Subscriber): void {
    this.#admitted.set(number, subscriber);
    const key = keyOf(subscriber);
    this.#counts.set(key, this.count(key) + 1);
  }

  #leave(number: number): void {
    const subscriber = this.#admitted.get(number);
    if (subscriber === undefined) return;
    this.#admitted.delete(number);
    const key = keyOf(subscriber);
    const others = this.count(key) - 1;
    if (others > 0) this.#counts.set(key, others);
    else this.#counts.delete(key);
    this.#options.gate.leave(subscriber);
  }

  #watch(group: GroupRef): void {
    const unwatch = this.#options.watch(group, {
      event: (event) => this.publish([event]),
      reset: () => this.#send({ kind: 'reset', group }),
    });
    this.#watched.set(keyOf(group), unwatch);
  }

  #caughtUp(): void {
    if (!this.#isTooFarBack || this.#awayBytes > CAUGHT_UP_BYTES) return;
    this.#isTooFarBack = false;
    this.#send({ kind: 'lost' });
  }
}

function keyOf({ stream, group }: GroupRef): string {
  return groupKey(stream, group);
}

function passed({ body, ...event }: StoreEvent): PassedEvent {
  return { ...event, body: bytesToByteString(body) };
}
