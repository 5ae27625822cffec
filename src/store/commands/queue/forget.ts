// `queue::forget`: removes a queue that is empty and no longer used, and frees its number. Topics and functions come
// and go, and numbers are limited.
//
// All of it is one transaction, so that a crash leaves either the queue or the free number. A queue that has any record
// left keeps its number, so that none of it appears in another queue. A receipt names a queue by number and a job by a
// number that no later job gets.

import { isForgetInput } from '../../../generated/queue-shapes.ts';
import type { StoreCommand } from '../../thread/contract.ts';
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
