// Dead letters: list, redrive, edit, discard. Each job moves in one transaction, and a transaction moves few (Q10).

import type { DeadMark } from '../../../core/queue/records.ts';
import type { DeadListInput, DeadRow } from '../../../core/queue/shapes.ts';
import { isDeadListInput, isDeadMovesInput } from '../../../generated/queue-shapes.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { JsonList } from '../../thread/json-list.ts';
import { type OpenQueue, QueueBook } from './book.ts';
import { decodeFramed } from './framed.ts';
import { groupOf } from './group-value.ts';
import { keysIn } from './indexes.ts';
import { decodeJob, encodeJob, readFacts } from './job-record.ts';
import { deadKey, firstNumberOf, jobKey, rangeOf, seqOf } from './keys.ts';
import { parseAs, toJson } from './marks.ts';
import { lineUp, onlyPast, readDead, unbury } from './places.ts';
import { readReceipt } from './receipt.ts';

/** The limit of one transaction. */
const MOVES_MAX = 200;

/**
 * Newest first, each with its payload as it was enqueued. Sets damaged records aside, because nothing else reads them.
 */
export const deadList: StoreCommand = {
  name: 'queue::dead_list',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const input = parseAs(bytes, isDeadListInput);
    const { queue: name, offset, limit, id } = input;
    const book = new QueueBook(kv, world);
    const queue = book.find(name);
    const list = new JsonList('engine::queue::dlq_messages', { offset, limit, limitOrOneMore: limit });
    if (queue === undefined) return { result: list.end() };
    for (const seq of id === undefined ? newest(book, queue, offset, limit) : only(book, queue, id)) {
      const shown = book.sound(() => {
        const mark = readDead(kv, queue.number, seq);
        if (mark !== undefined) addRow(list, book, queue, seq, mark, input);
      });
      if (shown === undefined) setDeadAside(book, queue, seq);
    }
    if (book.damaged > 0) book.close();
    return { result: list.end(), damagedRecords: book.damaged };
  },
};

/**
 * Redrives or discards the job that `id` names, with another payload if one follows the head, or the oldest jobs that
 * died before `beforeDeath`. Returns how many, and where to continue.
 */
export const deadMoves: StoreCommand = {
  name: 'queue::dead_moves',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const { head: input, body } = decodeFramed(bytes);
    if (!isDeadMovesInput(input)) throw new Error('The queue module sent a move of an unknown shape');
    const book = new QueueBook(kv, world);
    const queue = book.find(input.queue);
    if (queue === undefined) return { result: toJson({ moved: 0, hasMore: false, beforeDeath: 0 }) };
    const beforeDeath = input.beforeDeath ?? queue.head.nextDeath;
    const seqs = input.id === undefined ? oldest(book, queue, beforeDeath) : only(book, queue, input.id);
    let moved = 0;
    for (const seq of seqs) {
      const found = book.sound(() => {
        // A job can be discarded without being read.
        if (input.how === 'redrive') kv.get(jobKey(queue.number, seq));
        return readDead(kv, queue.number, seq);
      });
      if (found === undefined) setDeadAside(book, queue, seq);
      const mark = found?.value;
      if (mark === undefined) continue;
      moved++;
      unbury(book, queue, seq, mark);
      if (input.how === 'discard') kv.remove(jobKey(queue.number, seq));
      else redrive(book, queue, seq, mark, body);
    }
    book.close();
    const hasMore = input.id === undefined && seqs.length === MOVES_MAX;
    return { result: toJson({ moved, hasMore, beforeDeath }), damagedRecords: book.damaged };
  },
};

/** A record of the job is damaged: nothing refers to it any more (D9). */
function setDeadAside(book: QueueBook, { number, head }: OpenQueue, seq: number): void {
  const { kv } = book;
  for (const key of keysIn(kv, rangeOf('O', number))) if (seqOf(key) === seq) kv.remove(key);
  book.setAside(deadKey(number, seq));
  book.setAside(jobKey(number, seq));
  head.dead--;
}

/** Moves the job to the end of the line, as if it had never run. It keeps its receipt (F4). */
function redrive(book: QueueBook, queue: OpenQueue, seq: number, mark: DeadMark, payload: Buffer): void {
  const isEdited = payload.length > 0;
  if (isEdited) edit(book, jobKey(queue.number, seq), payload);
  const { group, priority, editedMs: editedBefore } = onlyPast(mark);
  const editedMs = isEdited ? book.nowMs : editedBefore;
  const past = {
    attempts: 0,
    deliveries: 0,
    order: book.store.nextSeq++,
    ...(priority !== undefined && { priority }),
    ...(group !== undefined && { group }),
    ...(editedMs !== undefined && { editedMs }),
  };
  book.store.jobs++;
  lineUp(book, queue, seq, past, undefined);
}

function edit({ kv }: QueueBook, at: Buffer, payload: Buffer): void {
  const value = kv.get(at);
  if (value === undefined) throw new Error('A dead letter has no record');
  kv.put(at, encodeJob({ ...decodeJob(value), payload }));
}

function addRow(
  list: JsonList,
  book: QueueBook,
  queue: OpenQueue,
  seq: number,
  mark: DeadMark,
  { withoutPayload, groupField }: DeadListInput,
): void {
  const value = book.kv.get(jobKey(queue.number, seq));
  if (value === undefined) throw new Error('A dead letter has no record');
  const { enqueuedMs, facts, payload } = decodeJob(value);
  const row: DeadRow = {
    id: book.receiptOf(queue, seq, enqueuedMs),
    function_id: readFacts(facts).functionId,
    error: mark.error ?? '',
    reason: mark.reason,
    failed_at: Math.floor(mark.atMs / 1_000),
    retries: mark.attempts,
    deliveries: mark.deliveries,
    first_failed_at: Math.floor((mark.firstFailedMs ?? mark.atMs) / 1_000),
    enqueued_at: Math.floor(enqueuedMs / 1_000),
    size_bytes: payload.length,
    ...groupOf(payload, groupField),
  };
  const json = JSON.stringify(row);
  if (withoutPayload !== true) list.add(Buffer.from(`${json.slice(0, -1)},"payload":`), payload, BRACE);
  else list.add(Buffer.from(json));
}

const BRACE = Buffer.from('}');

/** Another store, or this one before it was recreated, gave the same numbers to other jobs. */
function only({ store }: QueueBook, { number }: OpenQueue, id: string): number[] {
  const receipt = readReceipt(id);
  return receipt?.salt === store.salt && receipt.queue === number ? [receipt.seq] : [];
}

function newest({ kv }: QueueBook, { number }: OpenQueue, offset: number, limit: number): number[] {
  return keysIn(kv, rangeOf('O', number), { isReverse: true, offset, limit }).map(seqOf);
}

function oldest({ kv }: QueueBook, { number }: OpenQueue, beforeDeath: number): number[] {
  const found = keysIn(kv, rangeOf('O', number), { limit: MOVES_MAX });
  return found.filter((key) => firstNumberOf(key) < beforeDeath).map(seqOf);
}
