// `queue::forget`: nobody has a use for the queue any more, and nothing is in it. Its number is free for another one:
// topics and functions come and go, and there are only so many numbers.
//
// All in one transaction, so that a crash leaves either the queue or the free number. A queue of which any record is
// left keeps its number: nothing of it may turn up in another queue. Receipts name a number, and a job by another
// number that no later job has.

import { isForgetInput } from '../../generated/queue-shapes.ts';
import type { StoreCommand } from '../contract.ts';
import { QueueBook } from './book.ts';
import { firstIn } from './indexes.ts';
import { freeNumberKey, KINDS_IN_QUEUES, nameKey, queueHeadKey, rangeOf } from './keys.ts';
import { parseAs, toJson } from './marks.ts';

export const queueForget: StoreCommand = {
  name: 'queue::forget',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const { queue: name } = parseAs(bytes, isForgetInput);
    const queue = new QueueBook(kv, world).find(name);
    if (queue === undefined) return { result: toJson(null) };
    const { number, head } = queue;
    const isLeft = !head.isPaused && KINDS_IN_QUEUES.every((kind) => firstIn(kv, rangeOf(kind, number)) === undefined);
    if (isLeft) {
      kv.remove(nameKey(name));
      kv.remove(queueHeadKey(number));
      kv.put(freeNumberKey(number), Buffer.alloc(0));
    }
    return { result: toJson(null) };
  },
};
