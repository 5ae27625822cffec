// Subscriptions of topics: who gets a copy of what is published, also while its worker is away.

import type { SubscriptionMark } from '../../core/queue/records.ts';
import { isKeptMovesInput, isSubscriptionInput, isSubscriptionMark } from '../../generated/queue-shapes.ts';
import type { StoreCommand } from '../contract.ts';
import type { KvReader } from '../kv.ts';
import { type OpenQueue, QueueBook } from './book.ts';
import { enqueueJob } from './enqueue.ts';
import { keysIn, removeEntry } from './indexes.ts';
import { decodeJob, readFacts } from './job-record.ts';
import { allSubscriptions, jobKey, rangeOf, seqOf, subscriptionKey } from './keys.ts';
import { parseAs, toJson } from './marks.ts';
import { readWaiting, setAside, unplace } from './places.ts';
import { soundEntries } from './sound.ts';

const MOVES_MAX = 200;

/** Somebody listens, or has listened and may come back: then with the time at which it left. */
export const subscribe: StoreCommand = {
  name: 'queue::subscribe',
  isWrite: true,
  run(kv, bytes) {
    const { topic, functionId, leftMs } = parseAs(bytes, isSubscriptionInput);
    const mark: SubscriptionMark = { topic, functionId, ...(leftMs !== undefined && { leftMs }) };
    kv.put(subscriptionKey(topic, functionId), toJson(mark));
    return {};
  },
};

export const forgetSubscription: StoreCommand = {
  name: 'queue::unsubscribe',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes) {
    const { topic, functionId } = parseAs(bytes, isSubscriptionInput);
    kv.remove(subscriptionKey(topic, functionId));
    return {};
  },
};

export const subscriptions: StoreCommand = {
  name: 'queue::subscriptions',
  isWrite: false,
  run(kv) {
    const { start, end } = allSubscriptions();
    let damagedRecords = 0;
    const marks = [...soundEntries(kv, start, end, () => damagedRecords++)];
    return { result: toJson(marks.map(({ value }) => parseAs(value, isSubscriptionMark))), damagedRecords };
  },
};

/** The first subscriber has come: what was kept for it moves into its queue, oldest first. */
export const keptMoves: StoreCommand = {
  name: 'queue::kept_moves',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const { from: fromName, to, functionId, rules } = parseAs(bytes, isKeptMovesInput);
    const book = new QueueBook(kv, world);
    const from = book.find(fromName);
    if (from === undefined) return { result: toJson({ moved: 0, hasMore: false }) };
    const target = book.queue(to);
    const keys = oldestKept(book, from);
    let [moved, isFull] = [0, false];
    for (const key of keys) {
      const seq = seqOf(key);
      const found = book.sound(() => readKept(kv, from.number, seq));
      if (found?.value === undefined) {
        if (found === undefined) setAside(book, from, seq, 'parked');
        else removeEntry(book, key);
        continue;
      }
      const { mark, facts: kept, payload } = found.value;
      const facts = toJson({ ...readFacts(kept), functionId });
      // What does not fit stays where it is, for the next subscriber, or until its time is over.
      isFull = 'reason' in enqueueJob(book, target, rules, { facts, payload });
      if (isFull) break;
      unplace(book, from, seq, mark);
      kv.remove(jobKey(from.number, seq));
      book.store.jobs--;
      moved++;
    }
    book.close();
    const hasMore = keys.length === MOVES_MAX && !isFull;
    return { result: toJson({ moved, hasMore }), damagedRecords: book.damaged };
  },
};

/** `undefined`: the entry leads to no message. */
function readKept(kv: KvReader, queue: number, seq: number) {
  const mark = readWaiting(kv, queue, seq);
  const value = kv.get(jobKey(queue, seq));
  if (mark === undefined || value === undefined) return undefined;
  return { mark, ...decodeJob(value) };
}

/** They expire in the order in which they came. */
function oldestKept({ kv }: QueueBook, { number }: OpenQueue): Buffer[] {
  return keysIn(kv, rangeOf('D', number), { limit: MOVES_MAX });
}
