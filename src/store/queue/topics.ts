// Subscriptions of topics: who gets a copy of what is published, also while its worker is away.

import type { SubscriptionMark } from '../../core/queue/records.ts';
import { isKeptMovesInput, isSubscriptionInput, isSubscriptionMark } from '../../generated/queue-shapes.ts';
import type { StoreCommand } from '../contract.ts';
import { type OpenQueue, QueueBook } from './book.ts';
import { enqueueJob } from './enqueue.ts';
import { decodeJob } from './job-record.ts';
import { allSubscriptions, jobKey, rangeOf, seqOf, subscriptionKey } from './keys.ts';
import { parseAs, toJson } from './marks.ts';
import { readWaiting, unplace } from './places.ts';

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
    return { result: toJson([...kv.range(start, end)].map(({ value }) => parseAs(value, isSubscriptionMark))) };
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
    const seqs = kept(book, from);
    for (const seq of seqs) {
      const mark = readWaiting(kv, from.number, seq);
      const value = kv.get(jobKey(from.number, seq));
      if (mark === undefined || value === undefined) throw new Error('A kept message has no record');
      const { facts, payload } = decodeJob(value);
      unplace(book, from, seq, mark);
      kv.remove(jobKey(from.number, seq));
      book.store.jobs--;
      const job = { facts: { ...facts, functionId }, at: 0, bytes: payload.length };
      const answer = enqueueJob(book, target, { rules }, job, payload);
      if ('reason' in answer)
        throw new Error(`A kept message does not fit the queue of its subscriber: ${answer.message}`);
    }
    book.close();
    return { result: toJson({ moved: seqs.length, hasMore: seqs.length === MOVES_MAX }) };
  },
};

/** They expire in the order in which they came. */
function kept({ kv }: QueueBook, { number }: OpenQueue): number[] {
  const { start, end } = rangeOf('D', number);
  return [...kv.range(start, end, { limit: MOVES_MAX })].map(({ key }) => seqOf(key));
}
