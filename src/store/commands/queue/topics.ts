// Subscriptions of topics: which functions get a copy of a message, even while their worker is away.

import type { SubscriptionMark } from '../../../core/queue/records.ts';
import { isKeptMovesInput, isSubscriptionInput, isSubscriptionMark } from '../../../generated/queue-shapes.ts';
import type { KvReader } from '../../kv/kv.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { type OpenQueue, QueueBook } from './book.ts';
import { enqueueJob } from './enqueue.ts';
import { keysIn, removeEntry } from './indexes.ts';
import { decodeJob, readFacts } from './job-record.ts';
import { allSubscriptions, jobKey, rangeOf, seqOf, subscriptionKey } from './keys.ts';
import { parseAs, toJson } from './marks.ts';
import { readWaiting, setAside, unplace } from './places.ts';
import { soundEntries } from './sound.ts';

const MOVES_MAX = 200;

/** A function subscribes, or its worker left and may come back; then the time at which it left is kept. */
export const subscribe: StoreCommand = {
  name: 'queue::subscribe',
  isWrite: true,
  run(kv, bytes) {
    const { topic, functionId, leftMs, isTrusted } = parseAs(bytes, isSubscriptionInput);
    const mark: SubscriptionMark = {
      ...{ topic, functionId },
      ...(leftMs !== undefined && { leftMs }),
      ...(isTrusted === true && { isTrusted }),
    };
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

/** The first subscriber has come: the messages kept for it move into its queue, oldest first. */
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
      // Messages that do not fit stay where they are for the next subscriber, or until they expire.
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

/** Returns `undefined` if the entry leads to no message. */
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
