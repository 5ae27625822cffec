// The indexes that lead to the jobs of a queue. An entry is a key without a value. It is true if the mark of its job
// agrees with it, so damage to an entry is found when its job is looked up (D9). An entry that leads to no such job is
// removed. A job that no entry leads to any more gets a new one.

import type { WaitingMark } from '../../../core/queue/records.ts';
import { isWaitingMark } from '../../../generated/queue-shapes.ts';
import type { KeyRange } from '../../kv/keys.ts';
import type { KvReader, RangeOptions } from '../../kv/kv.ts';
import type { OpenQueue, QueueBook } from './book.ts';
import { decodeJob, readFacts } from './job-record.ts';
import { dueKey, groupKey, jobKey, parkedKey, rangeOf, readyKey, seqOf } from './keys.ts';
import { parseAs } from './marks.ts';
import { soundEntries } from './sound.ts';

const NOTHING = Buffer.alloc(0);

/** Copies of the keys, because the records they lead to may be changed at once. */
export function keysIn(kv: KvReader, { start, end }: KeyRange, options?: RangeOptions): Buffer[] {
  return [...kv.keys(start, end, options)].map((key) => Buffer.from(key));
}

/** The first one. */
export function firstIn(kv: KvReader, range: KeyRange): Buffer | undefined {
  return keysIn(kv, range, { limit: 1 })[0];
}

/** The index key of a job that waits for its turn or its time. */
export function placeKey(queue: number, seq: number, mark: WaitingMark): Buffer | undefined {
  const { state, dueMs, priority = 0, order } = mark;
  if (state === 'ready') return readyKey(queue, priority, order, seq);
  return dueMs === undefined || state === 'blocked' ? undefined : dueKey(queue, dueMs, seq);
}

/** Whether the entry agrees with the mark of the job. */
export function isTrue(key: Buffer, queue: number, seq: number, mark: WaitingMark | undefined): boolean {
  return mark !== undefined && placeKey(queue, seq, mark)?.equals(key) === true;
}

/** Removes an entry that leads to no job. */
export function removeEntry(book: QueueBook, key: Buffer): void {
  book.kv.remove(key);
  book.countDamaged();
}

/** Of a job with a record of its own. */
export function functionOf({ kv }: QueueBook, queue: number, seq: number): string {
  const record = kv.get(jobKey(queue, seq));
  if (record === undefined) throw new Error('A waiting job has no record');
  return readFacts(decodeJob(record).facts).functionId;
}

/**
 * The counts include jobs that no entry leads to. Looks at every mark of a waiting job, which happens rarely. A job
 * without an intact mark no longer counts.
 */
export function restoreEntries(book: QueueBook, queue: OpenQueue): void {
  const { number, head } = queue;
  book.countDamaged();
  const before = waitingIn(queue);
  Object.assign(head, { ready: 0, blocked: 0, delayed: 0, retrying: 0, parked: 0 });
  const { start, end } = rangeOf('W', number);
  const marks: { readonly seq: number; readonly mark: WaitingMark }[] = [];
  const meetDamage = (key: Uint8Array): void => {
    book.countDamaged();
    book.setAside(jobKey(number, seqOf(key)));
    book.setAside(key);
  };
  for (const { key, value } of soundEntries(book.kv, start, end, meetDamage)) {
    marks.push({ seq: seqOf(key), mark: parseAs(value, isWaitingMark) });
  }
  for (const { seq, mark } of marks) {
    head[mark.state]++;
    for (const key of entriesOf(book, number, seq, mark)) if (!isThere(book, key)) book.kv.put(key, NOTHING);
  }
  book.store.jobs -= before - waitingIn(queue);
}

function entriesOf(book: QueueBook, queue: number, seq: number, mark: WaitingMark): Buffer[] {
  const place = placeKey(queue, seq, mark);
  const functionId = mark.state === 'parked' ? book.sound(() => functionOf(book, queue, seq))?.value : undefined;
  return [
    ...(place === undefined ? [] : [place]),
    ...(functionId === undefined ? [] : [parkedKey(queue, functionId, seq)]),
    ...(mark.group === undefined ? [] : [groupKey(queue, mark.group, mark.order, seq)]),
  ];
}

function isThere(book: QueueBook, key: Buffer): boolean {
  return book.sound(() => book.kv.get(key))?.value !== undefined;
}

function waitingIn({ head }: OpenQueue): number {
  return head.ready + head.blocked + head.delayed + head.retrying + head.parked;
}
