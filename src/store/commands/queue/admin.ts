// Opens, wakes, pauses, counts and removes queues. `inspect.ts` reads their jobs.

import type { OpenAnswer, QueueStats } from '../../../core/queue/shapes.ts';
import { isForgetInput, isOpenInput, isPauseInput, isWakeInput } from '../../../generated/queue-shapes.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { parseAs, toJson } from './encoding.ts';
import { functionOf, removeEntry } from './indexes.ts';
import {
  allQueueHeads,
  firstIn,
  freeNumberKey,
  intactEntries,
  jobKey,
  KINDS_IN_QUEUES,
  keysIn,
  nameKey,
  parkedKey,
  parkedOf,
  queueHeadKey,
  queueOf,
  rangeOf,
  runningKey,
  seqOf,
} from './keys.ts';
import { jobsIn, type OpenQueue, OpenQueues } from './open-queues.ts';
import {
  enterWait,
  firstRun,
  leaveBlock,
  leaveWait,
  loseJob,
  onlyPast,
  readRunning,
  readWaiting,
  setAside,
} from './transitions.ts';

/** The limit of one transaction. */
const MOVES_MAX = 500;

/**
 * An engine takes the queue over. Jobs that ran when the last engine ended return to their place without using an
 * attempt (R2).
 */
export const queueOpen: StoreCommand = {
  name: 'queue::open',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const { queue: name, isFifo } = parseAs(bytes, isOpenInput);
    const queues = new OpenQueues(kv, context);
    const queue = queues.open(name);
    const { head } = queue;
    const isOther = head.isFifo !== undefined && head.isFifo !== isFifo;
    if (isOther && jobsIn(head) + head.dead > 0) return { result: toJson({ ...NO_MOVES, isRefused: true }) };
    head.isFifo = isFifo;
    const moved = putBack(queues, queue);
    const parkedFunctions = head.parked === 0 ? [] : functionsParked(queues, queue);
    queues.close();
    const answer: OpenAnswer = {
      moved,
      hasMore: moved === MOVES_MAX,
      isRefused: false,
      parkedFunctions,
    };
    return { result: toJson(answer), damagedRecords: queues.damaged };
  },
};

const NEXT = Buffer.of(0);
const NO_MOVES = { moved: 0, hasMore: false, parkedFunctions: [] };

/** Returns jobs that ran when the last engine ended. */
function putBack(queues: OpenQueues, queue: OpenQueue): number {
  const { kv } = queues;
  const { head, number, line } = queue;
  const first = line.running(MOVES_MAX);
  for (const seq of first) {
    if (queues.ifIntact(() => leaveBlock(queues, queue, seq)) !== undefined) {
      enterWait(queues, queue, seq, { ...firstRun(seq), state: 'ready' });
      continue;
    }
    line.setAside(seq);
    line.leave(seq);
    loseJob(queues, queue, seq);
  }
  const others = keysIn(kv, rangeOf('R', number), { limit: MOVES_MAX - first.length }).map(seqOf);
  for (const seq of others) {
    const found = queues.ifIntact(() => readRunning(kv, number, seq));
    head.running--;
    if (found === undefined) {
      for (const key of [runningKey(number, seq), jobKey(number, seq)]) queues.setAside(key);
      loseJob(queues, queue, seq);
      continue;
    }
    kv.remove(runningKey(number, seq));
    if (found.value === undefined) throw new Error('A running job has no record');
    else enterWait(queues, queue, seq, { ...onlyPast(found.value), state: 'ready' });
  }
  const moved = first.length + others.length;
  if (moved < MOVES_MAX) {
    // Nothing runs: the remaining count belongs to a block whose state is damaged.
    queues.store.jobs -= head.running;
    head.running = 0;
  }
  return moved;
}

/** Costs one look-up for each function, regardless of how many jobs wait for it. */
function functionsParked(queues: OpenQueues, { number }: OpenQueue): string[] {
  const { kv } = queues;
  const all = rangeOf('P', number);
  const found: string[] = [];
  for (let { start } = all; ; ) {
    const first = firstIn(kv, { start, end: all.end });
    if (first === undefined) return found;
    const job = queues.ifIntact(
      () => readWaiting(kv, number, seqOf(first)) && functionOf(queues, number, seqOf(first)),
    );
    const functionId = job?.value;
    // An entry of another function, or of no job, only moves the search forward.
    const isConsistent = functionId !== undefined && parkedKey(number, functionId, seqOf(first)).equals(first);
    if (isConsistent) found.push(functionId);
    start = isConsistent ? parkedOf(number, functionId).end : Buffer.concat([first, NEXT]);
  }
}

/** A worker offers the function: its jobs wait no longer (Q7). */
export const queueWake: StoreCommand = {
  name: 'queue::wake',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const { queue: name, functionId } = parseAs(bytes, isWakeInput);
    const queues = new OpenQueues(kv, context);
    const queue = queues.find(name);
    if (queue === undefined) return { result: toJson({ moved: 0, hasMore: false }) };
    const keys = keysIn(kv, parkedOf(queue.number, functionId), { limit: MOVES_MAX });
    let moved = 0;
    for (const key of keys) {
      const seq = seqOf(key);
      const found = queues.ifIntact(() => readWaiting(kv, queue.number, seq));
      if (found === undefined) setAside(queues, queue, seq, 'parked');
      else if (found.value?.state !== 'parked') removeEntry(queues, key);
      else {
        leaveWait(queues, queue, seq, found.value, functionId);
        enterWait(queues, queue, seq, { ...onlyPast(found.value), state: 'ready' });
        moved++;
      }
    }
    queues.close();
    const result = toJson({ moved, hasMore: keys.length === MOVES_MAX });
    return { result, damagedRecords: queues.damaged };
  },
};

export const queuePause: StoreCommand = {
  name: 'queue::pause',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const { queue: name, isPaused } = parseAs(bytes, isPauseInput);
    const queues = new OpenQueues(kv, context);
    queues.open(name).head.isPaused = isPaused;
    queues.close();
    return {};
  },
};

/** Reads one record for each queue of the store. */
export const queueStats: StoreCommand = {
  name: 'queue::stats',
  isWrite: false,
  run(kv, _bytes, context) {
    const queues = new OpenQueues(kv, context);
    const { start, end } = allQueueHeads();
    let damagedRecords = 0;
    const heads = intactEntries(kv, start, end, () => damagedRecords++);
    const numbers = [...heads].map(({ key }) => queueOf(key));
    const all = numbers.flatMap((number): QueueStats[] => {
      const queue = queues.byNumber(number);
      if (queue === undefined) return [];
      const { name, cursor: _cursor, block: _block, nextDeath: _nextDeath, isFifo: _isFifo, ...counts } = queue.head;
      return [{ queue: name, ...counts }];
    });
    return { result: toJson(all), damagedRecords };
  },
};

export const queueForget: StoreCommand = {
  name: 'queue::forget',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const { queue: name } = parseAs(bytes, isForgetInput);
    const queue = new OpenQueues(kv, context).find(name);
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
