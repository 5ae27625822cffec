// The input and the answer of one step of a queue (`advance.ts`). Jobs that are done, which are nearly all, are encoded
// as numbers. Claimed jobs are encoded as bytes.
//
//   step:    u32 length of the head · head as JSON · for each job that is done: f64 its number · u32 its token
//   answer:  u32 length of the head · head as JSON · for each claimed job: f64 number · u32 token · u32 attempt
//            f64 when it was enqueued · receipt · u32 length of its facts · u32 of its payload · facts · payload

import type { AdvanceFacts, AdvanceInput, ClaimedJob, JobFacts } from '../../../core/queue/shapes.ts';
import { isAdvanceFacts, isAdvanceInput } from '../../../generated/queue-shapes.ts';
import { decodeFramed, encodeFramed } from './framed.ts';
import { type JobRecord, readFacts } from './job-record.ts';
import { putReceipt, RECEIPT_BYTES, type Receipt, receiptText } from './receipt.ts';

const DONE_BYTES = 12;
const ROW_BYTES = 32 + RECEIPT_BYTES;

export function encodeStep(step: AdvanceInput): Buffer {
  const done = step.settled.filter(({ how }) => how === 'done');
  const rows = Buffer.allocUnsafe(DONE_BYTES * done.length);
  let at = 0;
  for (const { seq, token } of done) {
    rows.writeDoubleLE(seq, at);
    rows.writeUInt32LE(token, at + 8);
    at += DONE_BYTES;
  }
  const others = done.length === step.settled.length ? [] : step.settled.filter(({ how }) => how !== 'done');
  return encodeFramed({ ...step, settled: others }, rows);
}

/** `input.settled` does not contain the jobs that are done. */
export function decodeStep(bytes: Uint8Array): {
  readonly input: AdvanceInput;
  eachDone(settle: (seq: number, token: number) => void): void;
} {
  const { head, body } = decodeFramed(bytes);
  if (!isAdvanceInput(head)) throw new Error('The queue module sent a step of an unknown shape');
  return {
    input: head,
    eachDone(settle) {
      for (let at = 0; at < body.length; at += DONE_BYTES) settle(body.readDoubleLE(at), body.readUInt32LE(at + 8));
    },
  };
}

/** A claimed job in the form of the store. */
export interface Claimed {
  readonly receipt: Receipt;
  readonly token: number;
  readonly attempt: number;
  readonly record: JobRecord;
}

export function encodeAdvanced(facts: AdvanceFacts, jobs: readonly Claimed[]): Buffer {
  let length = 0;
  for (const { record } of jobs) length += ROW_BYTES + record.facts.length + record.payload.length;
  const rows = Buffer.allocUnsafe(length);
  let at = 0;
  for (const { receipt, token, attempt, record } of jobs) {
    const { enqueuedMs, facts: about, payload } = record;
    rows.writeDoubleLE(receipt.seq, at);
    rows.writeUInt32LE(token, at + 8);
    rows.writeUInt32LE(attempt, at + 12);
    rows.writeDoubleLE(enqueuedMs, at + 16);
    putReceipt(rows, at + 24, receipt);
    rows.writeUInt32LE(about.length, at + 24 + RECEIPT_BYTES);
    rows.writeUInt32LE(payload.length, at + 28 + RECEIPT_BYTES);
    rows.set(about, at + ROW_BYTES);
    rows.set(payload, at + ROW_BYTES + about.length);
    at += ROW_BYTES + about.length + payload.length;
  }
  return encodeFramed(facts, rows);
}

export interface ReadJob extends ClaimedJob {
  readonly payload: Buffer;
}

/** Payloads are views of the bytes. */
export function decodeAdvanced(bytes: Uint8Array): AdvanceFacts & { readonly jobs: readonly ReadJob[] } {
  const { head, body } = decodeFramed(bytes);
  if (!isAdvanceFacts(head)) throw new Error('The store answered a step with an unknown shape');
  const jobs: ReadJob[] = [];
  for (let at = 0; at < body.length; ) {
    const factsAt = at + ROW_BYTES;
    const payloadAt = factsAt + body.readUInt32LE(at + 24 + RECEIPT_BYTES);
    const end = payloadAt + body.readUInt32LE(at + 28 + RECEIPT_BYTES);
    jobs.push({
      seq: body.readDoubleLE(at),
      token: body.readUInt32LE(at + 8),
      attempt: body.readUInt32LE(at + 12),
      enqueuedMs: body.readDoubleLE(at + 16),
      id: receiptText(body, at + 24),
      facts: sharedFacts(body.subarray(factsAt, payloadAt)),
      at: payloadAt,
      bytes: end - payloadAt,
      payload: body.subarray(payloadAt, end),
    });
    at = end;
  }
  return { ...head, jobs };
}

let lastJson = Buffer.alloc(0);
let lastFacts: JobFacts = { functionId: '' };

/** Adjacent jobs are mostly of one function. Facts are never changed. */
function sharedFacts(json: Buffer): JobFacts {
  if (lastJson.equals(json)) return lastFacts;
  lastFacts = readFacts(json);
  lastJson = Buffer.from(json);
  return lastFacts;
}
