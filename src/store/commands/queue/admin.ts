// Opens, wakes, pauses and counts queues. `inspect.ts` reads their jobs.

import type { OpenAnswer, QueueStats } from '../../../core/queue/shapes.ts';
import { isOpenInput, isPauseInput, isWakeInput } from '../../../generated/queue-shapes.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { jobsIn, type OpenQueue, QueueBook } from './book.ts';
import { firstIn, functionOf, keysIn, removeEntry } from './indexes.ts';
import { allQueueHeads, jobKey, parkedKey, parkedOf, queueOf, rangeOf, runningKey, seqOf } from './keys.ts';
import { parseAs, toJson } from './marks.ts';
import {
  firstRun,
  leaveBlock,
  loseJob,
  onlyPast,
  place,
  readRunning,
  readWaiting,
  setAside,
  unplace,
} from './places.ts';
import { soundEntries } from './sound.ts';

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
  run(kv, bytes, world) {
    const { queue: name, isFifo } = parseAs(bytes, isOpenInput);
    const book = new QueueBook(kv, world);
    const queue = book.queue(name);
    const { head } = queue;
    const isOther = head.isFifo !== undefined && head.isFifo !== isFifo;
    if (isOther && jobsIn(head) + head.dead > 0) return { result: toJson({ ...NO_MOVES, isRefused: true }) };
    head.isFifo = isFifo;
    const moved = putBack(book, queue);
    const parkedFunctions = head.parked === 0 ? [] : functionsParked(book, queue);
    book.close();
    const answer: OpenAnswer = {
      moved,
      hasMore: moved === MOVES_MAX,
      isRefused: false,
      parkedFunctions,
    };
    return { result: toJson(answer), damagedRecords: book.damaged };
  },
};

const NEXT = Buffer.of(0);
const NO_MOVES = { moved: 0, hasMore: false, parkedFunctions: [] };

/** Returns jobs that ran when the last engine ended. */
function putBack(book: QueueBook, queue: OpenQueue): number {
  const { kv } = book;
  const { head, number, line } = queue;
  const first = line.running(MOVES_MAX);
  for (const seq of first) {
    if (book.sound(() => leaveBlock(book, queue, seq)) !== undefined) {
      place(book, queue, seq, { ...firstRun(seq), state: 'ready' });
      continue;
    }
    line.setAside(seq);
    line.leave(seq);
    loseJob(book, queue, seq);
  }
  const others = keysIn(kv, rangeOf('R', number), { limit: MOVES_MAX - first.length }).map(seqOf);
  for (const seq of others) {
    const found = book.sound(() => readRunning(kv, number, seq));
    head.running--;
    if (found === undefined) {
      for (const key of [runningKey(number, seq), jobKey(number, seq)]) book.setAside(key);
      loseJob(book, queue, seq);
      continue;
    }
    kv.remove(runningKey(number, seq));
    if (found.value === undefined) throw new Error('A running job has no mark');
    else place(book, queue, seq, { ...onlyPast(found.value), state: 'ready' });
  }
  const moved = first.length + others.length;
  if (moved < MOVES_MAX) {
    // Nothing runs: the remaining count belongs to a block whose state is damaged.
    book.store.jobs -= head.running;
    head.running = 0;
  }
  return moved;
}

/** Costs one look-up for each function, regardless of how many jobs wait for it. */
function functionsParked(book: QueueBook, { number }: OpenQueue): string[] {
  const { kv } = book;
  const all = rangeOf('P', number);
  const found: string[] = [];
  for (let { start } = all; ; ) {
    const first = firstIn(kv, { start, end: all.end });
    if (first === undefined) return found;
    const job = book.sound(() => readWaiting(kv, number, seqOf(first)) && functionOf(book, number, seqOf(first)));
    const functionId = job?.value;
    // An entry of another function, or of no job, only moves the search forward.
    const isTrue = functionId !== undefined && parkedKey(number, functionId, seqOf(first)).equals(first);
    if (isTrue) found.push(functionId);
    start = isTrue ? parkedOf(number, functionId).end : Buffer.concat([first, NEXT]);
  }
}

/** A worker offers the function: its jobs wait no longer (Q7). */
export const queueWake: StoreCommand = {
  name: 'queue::wake',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const { queue: name, functionId } = parseAs(bytes, isWakeInput);
    const book = new QueueBook(kv, world);
    const queue = book.find(name);
    if (queue === undefined) return { result: toJson({ moved: 0, hasMore: false }) };
    const keys = keysIn(kv, parkedOf(queue.number, functionId), { limit: MOVES_MAX });
    let moved = 0;
    for (const key of keys) {
      const seq = seqOf(key);
      const found = book.sound(() => readWaiting(kv, queue.number, seq));
      if (found === undefined) setAside(book, queue, seq, 'parked');
      else if (found.value?.state !== 'parked') removeEntry(book, key);
      else {
        unplace(book, queue, seq, found.value, functionId);
        place(book, queue, seq, { ...onlyPast(found.value), state: 'ready' });
        moved++;
      }
    }
    book.close();
    const result = toJson({ moved, hasMore: keys.length === MOVES_MAX });
    return { result, damagedRecords: book.damaged };
  },
};

export const queuePause: StoreCommand = {
  name: 'queue::pause',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const { queue: name, isPaused } = parseAs(bytes, isPauseInput);
    const book = new QueueBook(kv, world);
    book.queue(name).head.isPaused = isPaused;
    book.close();
    return {};
  },
};

/** Reads one record for each queue of the store. */
export const queueStats: StoreCommand = {
  name: 'queue::stats',
  isWrite: false,
  run(kv, _bytes, world) {
    const book = new QueueBook(kv, world);
    const { start, end } = allQueueHeads();
    let damagedRecords = 0;
    const heads = soundEntries(kv, start, end, () => damagedRecords++);
    const numbers = [...heads].map(({ key }) => queueOf(key));
    const all = numbers.flatMap((number): QueueStats[] => {
      const queue = book.byNumber(number);
      if (queue === undefined) return [];
      const { name, cursor: _cursor, block: _block, nextDeath: _nextDeath, isFifo: _isFifo, ...counts } = queue.head;
      return [{ queue: name, ...counts }];
    });
    return { result: toJson(all), damagedRecords };
  },
};
