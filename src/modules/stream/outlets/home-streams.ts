// The streams of the first router, as the stream port of a further one sees them.
//
// Messages keep their order in both directions, so a group that is watched before it is read misses no event: those
// that the snapshot lacks come after it.

import type { GroupRef, GroupWatcher, StoreEvent, StoreReply } from '../../../store/thread/contract.ts';
import type { StreamSubscriber } from '../../taps.ts';
import { groupKey } from '../group-key.ts';
import type { Subscriber, SubscriptionGate } from '../subscription.ts';
import type { Since } from '../target.ts';
import type { FromOutlet, PassedEvent, PassedReply, ToOutlet } from './messages.ts';

/** Reported once for many events. */
const REPORTED_BYTES = 256 * 1024;

export class HomeStreams implements SubscriptionGate {
  /** The clients of this router; set by its stream module. */
  subscribersOf: (group: GroupRef) => readonly StreamSubscriber[] = () => [];
  readonly #send: (message: FromOutlet) => void;
  #numbers = 0;
  /** Those that were asked for, or admitted. */
  readonly #subscriptions = new Map<Subscriber, number>();
  readonly #joining = new Map<number, (isIn: boolean) => void>();
  readonly #reading = new Map<number, (reply: StoreReply) => void>();
  readonly #watchers = new Map<string, GroupWatcher>();
  #takenBytes = 0;

  constructor(send: (message: FromOutlet) => void) {
    this.#send = send;
  }

  join(subscription: Subscriber, done: (isIn: boolean) => void): void {
    const number = ++this.#numbers;
    this.#subscriptions.set(subscription, number);
    this.#joining.set(number, (isIn) => {
      if (!isIn) this.#subscriptions.delete(subscription);
      done(isIn);
    });
    const { id, stream, group, item, context } = subscription;
    this.#send({ kind: 'join', number, subscriber: { id, stream, group, item, context } });
  }

  leave(subscription: Subscriber): void {
    const number = this.#subscriptions.get(subscription);
    if (number === undefined) return;
    this.#subscriptions.delete(subscription);
    this.#send({ kind: 'leave', number });
  }

  watch(group: GroupRef, watcher: GroupWatcher): () => void {
    const key = groupKey(group.stream, group.group);
    this.#watchers.set(key, watcher);
    this.#send({ kind: 'watch', group });
    return () => {
      this.#watchers.delete(key);
      this.#send({ kind: 'unwatch', group });
    };
  }

  read({ stream, group, item }: Subscriber, since: Since | undefined, done: (reply: StoreReply) => void): void {
    const number = ++this.#numbers;
    this.#reading.set(number, done);
    this.#send({ kind: 'read', number, subject: { stream, group, item }, since });
  }

  take(message: ToOutlet): void {
    switch (message.kind) {
      case 'joined':
        this.#joining.get(message.number)?.(message.isIn);
        return void this.#joining.delete(message.number);
      case 'read':
        this.#reading.get(message.number)?.(replyOf(message.reply));
        return void this.#reading.delete(message.number);
      case 'events':
        for (const event of message.events) this.#watchers.get(keyOf(event.path))?.event(eventOf(event));
        return this.#taken(message.bytes);
      case 'reset':
        return this.#watchers.get(groupKey(message.group.stream, message.group.group))?.reset();
      case 'lost':
        for (const watcher of this.#watchers.values()) watcher.reset();
        return;
      case 'subscribers':
        return this.#send({ kind: 'subscribers', subscribers: this.subscribersOf(message.group) });
    }
  }

  #taken(bytes: number): void {
    this.#takenBytes += bytes;
    if (this.#takenBytes < REPORTED_BYTES) return;
    this.#send({ kind: 'taken', bytes: this.#takenBytes });
    this.#takenBytes = 0;
  }
}

function keyOf([stream, group]: readonly string[]): string {
  return groupKey(stream, group);
}

function eventOf({ body, ...event }: PassedEvent): StoreEvent {
  return { ...event, body: Buffer.from(body, 'latin1') };
}

function replyOf({ events, ...reply }: PassedReply): StoreReply {
  return { ...reply, events: events.map(eventOf) };
}
