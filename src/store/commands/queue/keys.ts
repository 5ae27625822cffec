// The keys of the records of queues, within their space (`../../kv/keys.ts`). A key is the kind, the number of the
// queue in two bytes, and then what the table says. Numbers have six bytes, big-endian, so that keys sort in their
// order.
//
//   H                        the head of the store (`core/queue/records.ts`)
//   N name                   the number of a queue; no queue number in front
//   Q                        the head of a queue
//   F                        empty value: the queue number is free (`admin.ts`)
//   B seq                    a block of jobs, under its first one (`job-records.ts`)
//   K seq                    which jobs have left the block, from the first claim on
//   J seq                    a job with a record of its own: header and payload (`job-records.ts`)
//   R seq                    the state record of a running job
//   W seq                    the state record of a waiting job; one in a block has none
//   X seq                    the state record of a dead letter
//   A priority order seq     ready to be claimed; the priority is inverted, so that the highest comes first
//   D due seq                when it becomes ready, or expires
//   P function seq           waits for a worker; digest of the function's id
//   G group order seq        the line of a FIFO group, from its head
//   C group                  the length of that line
//   O death seq              dead letters in the order in which they died
//   I key                    digest of an idempotency key: the receipt, and when it expires
//   E until key              when the key is removed
//   S topic function         a subscription; no queue number in front

import { createHash } from 'node:crypto';
import { type KeyRange, SPACE } from '../../kv/keys.ts';
import type { KvEntry, KvReader, RangeOptions } from '../../kv/kv.ts';
import { DamagedRecord } from '../../kv/record.ts';

export const NUMBER_BYTES = 6;
const HEAD_BYTES = 4;
export const DIGEST_BYTES = 16;
export const QUEUES_MAX = 65_535;

/** The records of a queue other than its head. */
export const KINDS_IN_QUEUES = ['B', 'K', 'J', 'R', 'W', 'X', 'A', 'D', 'P', 'G', 'C', 'O', 'I', 'E'] as const;

type Kind = (typeof KINDS_IN_QUEUES)[number] | 'Q' | 'F';

export const storeHeadKey = (): Buffer => Buffer.of(SPACE.queues, 'H'.charCodeAt(0));
export const nameKey = (name: string): Buffer =>
  Buffer.concat([Buffer.of(SPACE.queues, 'N'.charCodeAt(0)), Buffer.from(name)]);
export const subscriptionKey = (topic: string, functionId: string): Buffer =>
  Buffer.concat([Buffer.of(SPACE.queues, 'S'.charCodeAt(0)), Buffer.from(`${topic}\0${functionId}`)]);
export const allSubscriptions = (): KeyRange => kindRange('S');
export const allQueueHeads = (): KeyRange => kindRange('Q');

export const queueHeadKey = (queue: number): Buffer => keyOf('Q', queue, 0);
export const freeNumberKey = (queue: number): Buffer => keyOf('F', queue, 0);
export const freeNumbers = (): KeyRange => kindRange('F');
export const blockKey = (queue: number, seq: number): Buffer => numbered('B', queue, seq);
export const blockStateKey = (queue: number, seq: number): Buffer => numbered('K', queue, seq);
export const jobKey = (queue: number, seq: number): Buffer => numbered('J', queue, seq);
export const runningKey = (queue: number, seq: number): Buffer => numbered('R', queue, seq);
export const waitingKey = (queue: number, seq: number): Buffer => numbered('W', queue, seq);
export const deadKey = (queue: number, seq: number): Buffer => numbered('X', queue, seq);
export const dueKey = (queue: number, dueMs: number, seq: number): Buffer => numbered('D', queue, dueMs, seq);
export const deathKey = (queue: number, death: number, seq: number): Buffer => numbered('O', queue, death, seq);

export function readyKey(queue: number, priority: number, order: number, seq: number): Buffer {
  const key = keyOf('A', queue, 1 + 2 * NUMBER_BYTES);
  key[HEAD_BYTES] = PRIORITY_MAX - priority;
  key.writeUIntBE(order, HEAD_BYTES + 1, NUMBER_BYTES);
  key.writeUIntBE(seq, HEAD_BYTES + 1 + NUMBER_BYTES, NUMBER_BYTES);
  return key;
}

export const PRIORITY_MAX = 255;

export const parkedKey = (queue: number, functionId: string, seq: number): Buffer =>
  Buffer.concat([keyOf('P', queue, 0), digest(functionId), number(seq)]);
export const groupKey = (queue: number, group: string, order: number, seq: number): Buffer =>
  Buffer.concat([keyOf('G', queue, 0), Buffer.from(group, 'hex'), number(order), number(seq)]);
export const groupCountKey = (queue: number, group: string): Buffer =>
  Buffer.concat([keyOf('C', queue, 0), Buffer.from(group, 'hex')]);
/** The group whose length that key holds. */
export const groupInCount = (key: Uint8Array): string => Buffer.from(key.subarray(HEAD_BYTES)).toString('hex');
export const idempotencyKey = (queue: number, key: string): Buffer =>
  Buffer.concat([keyOf('I', queue, 0), digest(key)]);
export const expiryKey = (queue: number, untilMs: number, key: Buffer): Buffer =>
  Buffer.concat([keyOf('E', queue, 0), number(untilMs), key.subarray(HEAD_BYTES)]);
/** The idempotency key that an expiry belongs to. */
export const expiredKey = (queue: number, expiry: Uint8Array): Buffer =>
  Buffer.concat([keyOf('I', queue, 0), expiry.subarray(HEAD_BYTES + NUMBER_BYTES)]);

export const rangeOf = (kind: Kind, queue: number): KeyRange => ({
  start: keyOf(kind, queue, 0),
  end: Buffer.concat([keyOf(kind, queue, 0), LAST]),
});
export const parkedOf = (queue: number, functionId: string): KeyRange =>
  below(keyOf('P', queue, 0), digest(functionId));
export const groupLine = (queue: number, group: string): KeyRange =>
  below(keyOf('G', queue, 0), Buffer.from(group, 'hex'));
export const blocksFrom = (queue: number, seq: number): KeyRange => ({
  start: blockKey(queue, seq),
  end: rangeOf('B', queue).end,
});
export const stateRecordsFrom = (kind: 'R' | 'W', queue: number, seq: number): KeyRange => ({
  start: numbered(kind, queue, seq),
  end: rangeOf(kind, queue).end,
});
export const dueUntil = (queue: number, steadyMs: number): KeyRange => ({
  start: rangeOf('D', queue).start,
  end: dueKey(queue, steadyMs + 1, 0),
});
export const expiredUntil = (queue: number, steadyMs: number): KeyRange => ({
  start: rangeOf('E', queue).start,
  end: numbered('E', queue, steadyMs + 1),
});

/** Every index ends with the number of the job. */
export function seqOf(key: Uint8Array): number {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  return bytes.readUIntBE(bytes.length - NUMBER_BYTES, NUMBER_BYTES);
}

/** The first number after the queue number: the due time of a due entry, the place of a death. */
export function firstNumberOf(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, key.length).readUIntBE(HEAD_BYTES, NUMBER_BYTES);
}

/** The group and the place in it, from a key of the line of a group. */
export function placeInLine(key: Uint8Array): { readonly group: string; readonly order: number } {
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  const orderAt = HEAD_BYTES + DIGEST_BYTES;
  return { group: bytes.toString('hex', HEAD_BYTES, orderAt), order: bytes.readUIntBE(orderAt, NUMBER_BYTES) };
}

export function queueOf(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, key.length).readUInt16BE(2);
}

export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, DIGEST_BYTES);
}

const LAST = Buffer.alloc(DIGEST_BYTES + 2 * NUMBER_BYTES + 1, 0xff);

function numbered(kind: Kind, queue: number, ...numbers: readonly number[]): Buffer {
  const key = keyOf(kind, queue, numbers.length * NUMBER_BYTES);
  for (let index = 0; index < numbers.length; index++) {
    key.writeUIntBE(numbers[index] ?? 0, HEAD_BYTES + index * NUMBER_BYTES, NUMBER_BYTES);
  }
  return key;
}

/** Leaves `capacity` bytes free after the key. */
function keyOf(kind: Kind, queue: number, capacity: number): Buffer {
  const key = Buffer.allocUnsafe(HEAD_BYTES + capacity);
  key[0] = SPACE.queues;
  key[1] = kind.charCodeAt(0);
  key.writeUInt16BE(queue, 2);
  return key;
}

function kindRange(kind: 'S' | 'Q' | 'F'): KeyRange {
  const code = kind.charCodeAt(0);
  return { start: Buffer.of(SPACE.queues, code), end: Buffer.of(SPACE.queues, code + 1) };
}

function below(...parts: readonly Buffer[]): KeyRange {
  const start = Buffer.concat([...parts]);
  return { start, end: Buffer.concat([start, LAST]) };
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeUIntBE(value, 0, NUMBER_BYTES);
  return bytes;
}

const NEXT = Buffer.of(0);

/**
 * Yields the intact entries in order (D9): a damaged record must not keep other jobs from being handed over. Calls
 * `damaged` with the keys of the others, in order too; the caller sets them aside (`setRecordAside`).
 */
export function* intactEntries(
  kv: KvReader,
  start: Uint8Array,
  end: Uint8Array,
  damaged: (key: Uint8Array) => void,
): Iterable<KvEntry> {
  for (let from = start; ; ) {
    try {
      yield* kv.range(from, end);
      return;
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error;
      damaged(error.key);
      from = Buffer.concat([error.key, NEXT]);
    }
  }
}

/** Copies of the keys, because the records they lead to may be changed at once. */
export function keysIn(kv: KvReader, { start, end }: KeyRange, options?: RangeOptions): Buffer[] {
  return [...kv.keys(start, end, options)].map((key) => Buffer.from(key));
}

/** The first one. */
export function firstIn(kv: KvReader, range: KeyRange): Buffer | undefined {
  return keysIn(kv, range, { limit: 1 })[0];
}
