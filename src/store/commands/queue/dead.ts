// Dead letters: list, redrive, edit, discard. Each job moves in one transaction, and a transaction moves few (Q10).

import type { DeadRecord } from '../../../core/queue/records.ts';
import type { DeadListInput, DeadRow } from '../../../core/queue/shapes.ts';
import { isDeadListInput, isDeadMovesInput } from '../../../generated/queue-shapes.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { JsonList } from '../../thread/json-list.ts';
import { decodeFramed, parseAs, toJson } from './encoding.ts';
import { groupOf } from './group-value.ts';
import { decodeJob, encodeJob, readHeader } from './job-records.ts';
import { deadKey, firstNumberOf, jobKey, keysIn, rangeOf, seqOf } from './keys.ts';
import { type OpenQueue, OpenQueues } from './open-queues.ts';
import { readReceipt } from './receipt.ts';
import { lineUp, onlyPast, readDead, unbury } from './transitions.ts';

/** The limit of one transaction. */
const MOVES_MAX = 200;

/**
 * Newest first, each with its payload as it was enqueued. Sets damaged records aside, because nothing else reads them.
 */
export const deadList: StoreCommand = {
  name: 'queue::dead_list',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const input = parseAs(bytes, isDeadListInput);
    const { queue: name, offset, limit, id } = input;
    const queues = new OpenQueues(kv, context);
    const queue = queues.find(name);
    const list = new JsonList('engine::queue::dlq_messages', { offset, limit, limitOrOneMore: limit });
    if (queue === undefined) return { result: list.end() };
    for (const seq of id === undefined ? newest(queues, queue, offset, limit) : only(queues, queue, id)) {
      const shown = queues.ifIntact(() => {
        const record = readDead(kv, queue.number, seq);
        if (record !== undefined) addRow(list, queues, queue, seq, record, input);
      });
      if (shown === undefined) setDeadAside(queues, queue, seq);
    }
    if (queues.damaged > 0) queues.close();
    return { result: list.end(), damagedRecords: queues.damaged };
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
  run(kv, bytes, context) {
    const { head: input, body } = decodeFramed(bytes);
    if (!isDeadMovesInput(input)) throw new Error('The queue module sent a move of an unknown shape');
    const queues = new OpenQueues(kv, context);
    const queue = queues.find(input.queue);
    if (queue === undefined) return { result: toJson({ moved: 0, hasMore: false, beforeDeath: 0 }) };
    const beforeDeath = input.beforeDeath ?? queue.head.nextDeath;
    const seqs = input.id === undefined ? oldest(queues, queue, beforeDeath) : only(queues, queue, input.id);
    let moved = 0;
    for (const seq of seqs) {
      const found = queues.ifIntact(() => {
        // A job can be discarded without being read.
        if (input.how === 'redrive') kv.get(jobKey(queue.number, seq));
        return readDead(kv, queue.number, seq);
      });
      if (found === undefined) setDeadAside(queues, queue, seq);
      const record = found?.value;
      if (record === undefined) continue;
      moved++;
      unbury(queues, queue, seq, record);
      if (input.how === 'discard') kv.remove(jobKey(queue.number, seq));
      else redrive(queues, queue, seq, record, body);
    }
    queues.close();
    const hasMore = input.id === undefined && seqs.length === MOVES_MAX;
    return { result: toJson({ moved, hasMore, beforeDeath }), damagedRecords: queues.damaged };
  },
};

/** A record of the job is damaged: nothing refers to it any more (D9). */
function setDeadAside(queues: OpenQueues, { number, head }: OpenQueue, seq: number): void {
  const { kv } = queues;
  for (const key of keysIn(kv, rangeOf('O', number))) if (seqOf(key) === seq) kv.remove(key);
  queues.setAside(deadKey(number, seq));
  queues.setAside(jobKey(number, seq));
  head.dead--;
}

/** Moves the job to the end of the line, as if it had never run. It keeps its receipt (F4). */
function redrive(queues: OpenQueues, queue: OpenQueue, seq: number, record: DeadRecord, payload: Buffer): void {
  const isEdited = payload.length > 0;
  if (isEdited) edit(queues, jobKey(queue.number, seq), payload);
  const { group, priority, editedMs: editedBefore } = onlyPast(record);
  const editedMs = isEdited ? queues.nowMs : editedBefore;
  const past = {
    attempts: 0,
    deliveries: 0,
    order: queues.store.nextSeq++,
    ...(priority !== undefined && { priority }),
    ...(group !== undefined && { group }),
    ...(editedMs !== undefined && { editedMs }),
  };
  queues.store.jobs++;
  lineUp(queues, queue, seq, past, undefined);
}

function edit({ kv }: OpenQueues, at: Buffer, payload: Buffer): void {
  const value = kv.get(at);
  if (value === undefined) throw new Error('A dead letter has no record');
  kv.put(at, encodeJob({ ...decodeJob(value), payload }));
}

function addRow(
  list: JsonList,
  queues: OpenQueues,
  queue: OpenQueue,
  seq: number,
  record: DeadRecord,
  { withoutPayload, groupField }: DeadListInput,
): void {
  const value = queues.kv.get(jobKey(queue.number, seq));
  if (value === undefined) throw new Error('A dead letter has no record');
  const { enqueuedMs, facts, payload } = decodeJob(value);
  const row: DeadRow = {
    id: queues.receiptOf(queue, seq, enqueuedMs),
    function_id: readHeader(facts).functionId,
    error: record.error ?? '',
    reason: record.reason,
    failed_at: Math.floor(record.atMs / 1_000),
    retries: record.attempts,
    deliveries: record.deliveries,
    first_failed_at: Math.floor((record.firstFailedMs ?? record.atMs) / 1_000),
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
function only({ store }: OpenQueues, { number }: OpenQueue, id: string): number[] {
  const receipt = readReceipt(id);
  return receipt?.salt === store.salt && receipt.queue === number ? [receipt.seq] : [];
}

function newest({ kv }: OpenQueues, { number }: OpenQueue, offset: number, limit: number): number[] {
  return keysIn(kv, rangeOf('O', number), { isReverse: true, offset, limit }).map(seqOf);
}

function oldest({ kv }: OpenQueues, { number }: OpenQueue, beforeDeath: number): number[] {
  const found = keysIn(kv, rangeOf('O', number), { limit: MOVES_MAX });
  return found.filter((key) => firstNumberOf(key) < beforeDeath).map(seqOf);
}
