// Jobs that wait in a store to be moved to a queue in another store. The job is first made durable in the queue under a
// key of its own, then its entry is removed. A repeat after a crash between the two steps is the same job (PD-54).
//
// The keys: `o`, then
//
//   P owner    the plan of whose changes become jobs
//   H          how many entries there are, and the number of the next
//   J seq      a job that waits; six bytes, the largest first, so that keys order as numbers do

import { Refusal } from '../../../core/calls/refusal.ts';
import type { OutboxHead, OutboxPage } from '../../../core/queue/shapes.ts';
import { isOutboxAsk, isOutboxDrop, isOutboxHead } from '../../../generated/queue-shapes.ts';
import { type KeyRange, SPACE } from '../../kv/keys.ts';
import type { Kv, KvReader } from '../../kv/kv.ts';
import type { CommandContext, StoreCommand } from '../../thread/contract.ts';
import { decodeFramed, encodeFramed, parseAs } from '../queue/encoding.ts';

const NUMBER_BYTES = 6;
const SEQ_AT = 2;

export const planKey = (owner: string): Buffer => Buffer.concat([kind('P'), Buffer.from(owner)]);
const outboxHeadKey = (): Buffer => kind('H');
const allOutboxJobs = (): KeyRange => ({ start: kind('J'), end: kind('K') });

function outboxJobKey(seq: number): Buffer {
  const key = Buffer.alloc(SEQ_AT + NUMBER_BYTES);
  kind('J').copy(key);
  key.writeUIntBE(seq, SEQ_AT, NUMBER_BYTES);
  return key;
}

function outboxSeq(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, key.length).readUIntBE(SEQ_AT, NUMBER_BYTES);
}

function kind(letter: string): Buffer {
  return Buffer.of(SPACE.outbox, letter.charCodeAt(0));
}

export const ENTRIES_MAX = 100_000;
/** Applies to queues that refuse jobs too: no other command runs in the meantime. */
export const PAGE_ENTRIES_MAX = 1_024;
export const PAGE_JOBS_MAX = 128;
export const PAGE_BYTES_MAX = 1024 * 1024;

/** No more entries are searched for a few queues: any of them may belong to these queues. */
const LOOKED_THROUGH_MAX = 1_000;

/** The outbox while one command works on it. */
export class OutboxWriter {
  readonly #kv: Kv;
  readonly #keyPrefix: string;
  #counts: { count: number; next: number } | undefined;

  constructor(kv: Kv, { epoch }: Pick<CommandContext, 'epoch'>, owner: string) {
    this.#kv = kv;
    this.#keyPrefix = `${owner} ${epoch}`;
  }

  /** Throws when the outbox is full: a change whose job cannot be kept must not be made. */
  add(job: Omit<OutboxHead, 'key'>, payload: Uint8Array): void {
    const counts = this.#read();
    if (counts.count >= ENTRIES_MAX) throw outboxFull();
    const seq = counts.next++;
    counts.count++;
    const head: OutboxHead = { ...job, key: `${this.#keyPrefix} ${seq}` };
    this.#kv.put(outboxJobKey(seq), encodeFramed(head, payload));
  }

  drop(seq: number): void {
    if (this.#kv.get(outboxJobKey(seq)) === undefined) return;
    this.#kv.remove(outboxJobKey(seq));
    this.#read().count--;
  }

  close(): void {
    if (this.#counts === undefined) return;
    const { count, next } = this.#counts;
    this.#kv.put(outboxHeadKey(), Buffer.from(`${count} ${next}`));
  }

  #read(): { count: number; next: number } {
    if (this.#counts !== undefined) return this.#counts;
    const value = this.#kv.get(outboxHeadKey());
    const [count = 0, next = 1] = value === undefined ? [] : Buffer.from(value).toString().split(' ').map(Number);
    this.#counts = { count, next };
    return this.#counts;
  }
}

export function outboxFull(): Refusal {
  return new Refusal('OVERLOADED', `${ENTRIES_MAX} jobs of triggers wait for queues that refuse them`);
}

/** Which of these queues have jobs in the outbox. */
export function queuesInOutbox(kv: KvReader, queues: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>();
  const { start, end } = allOutboxJobs();
  let looked = 0;
  for (const { value } of kv.range(start, end, { limit: LOOKED_THROUGH_MAX })) {
    if (++looked === LOOKED_THROUGH_MAX) return queues;
    const { head } = decodeFramed(value);
    if (isOutboxHead(head) && queues.has(head.queue)) found.add(head.queue);
  }
  return found;
}

/** The oldest entries of the given queues, in order. */
export const oldestEntries: StoreCommand = {
  name: 'outbox::oldest',
  isWrite: false,
  run(kv, input) {
    const { after, refusing } = parseAs(input, isOutboxAsk);
    const page: OutboxPage = { jobs: [], lookedTo: after, hasMore: false };
    const payloads: Uint8Array[] = [];
    let [looked, bytes] = [0, 0];
    const { end } = allOutboxJobs();
    for (const { key, value } of kv.range(outboxJobKey(after + 1), end, { limit: PAGE_ENTRIES_MAX })) {
      looked++;
      const { head, body } = decodeFramed(value);
      if (!isOutboxHead(head)) throw new Error('An entry of the outbox has an unknown shape');
      page.lookedTo = outboxSeq(key);
      if (!refusing.includes(head.queue)) {
        page.jobs.push({ ...head, seq: page.lookedTo, bytes: body.length });
        payloads.push(Buffer.from(body));
        bytes += body.length;
      }
      page.hasMore = looked === PAGE_ENTRIES_MAX || page.jobs.length >= PAGE_JOBS_MAX || bytes >= PAGE_BYTES_MAX;
      if (page.hasMore) break;
    }
    return { result: encodeFramed(page, ...payloads) };
  },
};

/** Removes entries whose jobs are durable in their queues. */
export const dropEntries: StoreCommand = {
  name: 'outbox::drop',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const outbox = new OutboxWriter(kv, context, '');
    for (const seq of parseAs(bytes, isOutboxDrop).seqs) outbox.drop(seq);
    outbox.close();
    return {};
  },
};
