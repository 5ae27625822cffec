// Subscriptions of topics: which functions get a copy of a message, even while their worker is away.

import type { StoredSubscription } from '../../../core/queue/records.ts';
import { isKeptMovesInput, isStoredSubscription, isSubscriptionInput } from '../../../generated/queue-shapes.ts';
import type { KvReader } from '../../kv/kv.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { parseAs, toJson } from './encoding.ts';
import { enqueueJob } from './enqueue.ts';
import { removeEntry } from './indexes.ts';
import { decodeJob, readHeader } from './job-records.ts';
import { allSubscriptions, intactEntries, jobKey, keysIn, rangeOf, seqOf, subscriptionKey } from './keys.ts';
import { type OpenQueue, OpenQueues } from './open-queues.ts';
import { leaveWait, readWaiting, setAside } from './transitions.ts';

const MOVES_MAX = 200;

/** A function subscribes, or its worker left and may reconnect; then the time at which it left is kept. */
export const subscribe: StoreCommand = {
  name: 'queue::subscribe',
  isWrite: true,
  run(kv, bytes) {
    const { topic, functionId, leftMs, isTrusted } = parseAs(bytes, isSubscriptionInput);
    const record: StoredSubscription = {
      ...{ topic, functionId },
      ...(leftMs !== undefined && { leftMs }),
      ...(isTrusted === true && { isTrusted }),
    };
    kv.put(subscriptionKey(topic, functionId), toJson(record));
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
    const records = [...intactEntries(kv, start, end, () => damagedRecords++)];
    return { result: toJson(records.map(({ value }) => parseAs(value, isStoredSubscription))), damagedRecords };
  },
};

/** The first subscriber has come: the messages kept for it move into its queue, oldest first. */
export const keptMoves: StoreCommand = {
  name: 'queue::kept_moves',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const { from: fromName, to, functionId, rules } = parseAs(bytes, isKeptMovesInput);
    const queues = new OpenQueues(kv, context);
    const from = queues.find(fromName);
    if (from === undefined) return { result: toJson({ moved: 0, hasMore: false }) };
    const target = queues.open(to);
    const keys = oldestKept(queues, from);
    let [moved, isFull] = [0, false];
    for (const key of keys) {
      const seq = seqOf(key);
      const found = queues.ifIntact(() => readKept(kv, from.number, seq));
      if (found?.value === undefined) {
        if (found === undefined) setAside(queues, from, seq, 'parked');
        else removeEntry(queues, key);
        continue;
      }
      const { record, facts: kept, payload } = found.value;
      const facts = toJson({ ...readHeader(kept), functionId });
      // Messages that do not fit stay where they are for the next subscriber, or until they expire.
      isFull = 'reason' in enqueueJob(queues, target, rules, { facts, payload });
      if (isFull) break;
      leaveWait(queues, from, seq, record);
      kv.remove(jobKey(from.number, seq));
      queues.store.jobs--;
      moved++;
    }
    queues.close();
    const hasMore = keys.length === MOVES_MAX && !isFull;
    return { result: toJson({ moved, hasMore }), damagedRecords: queues.damaged };
  },
};

/** Returns `undefined` if the entry leads to no message. */
function readKept(kv: KvReader, queue: number, seq: number) {
  const record = readWaiting(kv, queue, seq);
  const value = kv.get(jobKey(queue, seq));
  if (record === undefined || value === undefined) return undefined;
  return { record, ...decodeJob(value) };
}

/** They expire in the order in which they came. */
function oldestKept({ kv }: OpenQueues, { number }: OpenQueue): Buffer[] {
  return keysIn(kv, rangeOf('D', number), { limit: MOVES_MAX });
}
