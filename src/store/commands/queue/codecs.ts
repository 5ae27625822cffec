// The inputs and answers of `queue::enqueue` and `queue::advance`. They are mostly bytes: a busy queue moves tens of
// thousands of jobs a second between two threads.
//
// The input of `queue::enqueue`:
//   u32 length of the head · head as JSON
//   for each job six u32: where its header, payload and options lie, and how long they are
//   u32 length of the texts · headers and options as JSON · payloads
// Its answer has for each job a byte 0 and its receipt, or a byte 1 and JSON of an `EnqueueAnswer` with its length.
//
// One step of a queue, `queue::advance`. Jobs that are done, which are nearly all, are numbers; claimed jobs are bytes:
//   step:    u32 length of the head · head as JSON · for each job that is done: f64 its number · u32 its token
//   answer:  u32 length of the head · head as JSON · for each claimed job: f64 number · u32 token · u32 attempt
//            f64 when it was enqueued · receipt · u32 length of its header · u32 of its payload · header · payload

import type {
  AdvanceInput,
  AdvanceSummary,
  EnqueueAnswer,
  EnqueueHead,
  EnqueueInput,
  EnqueueRules,
  JobHeader,
  JobOptions,
  NewJob,
  TakenJob,
} from '../../../core/queue/shapes.ts';
import {
  isAdvanceInput,
  isAdvanceSummary,
  isEnqueueAnswer,
  isEnqueueHead,
  isJobOptions,
} from '../../../generated/queue-shapes.ts';
import { decodeFramed, encodeFramed, parseAs, toJson } from './encoding.ts';
import { type JobBytes, type JobRecord, readHeader } from './job-records.ts';
import { putReceipt, RECEIPT_BYTES, type Receipt, receiptText } from './receipt.ts';

export interface IncomingJob extends JobOptions, JobBytes {}

export interface IncomingGroup {
  readonly queue: string;
  readonly rules: EnqueueRules;
  readonly jobs: readonly IncomingJob[];
}

const ENQUEUED_BYTES = 24;

/** `payloads` is the body that the jobs point into. */
export function encodeEnqueue({ groups, isAllOrNone }: EnqueueInput, ...payloads: readonly Uint8Array[]): Buffer {
  const head: EnqueueHead = {
    isAllOrNone,
    groups: groups.map(({ queue, rules, jobs }) => ({ queue, rules, jobs: jobs.length })),
  };
  const texts = new Texts();
  const jobs = groups.length === 1 && groups[0] !== undefined ? groups[0].jobs : groups.flatMap((group) => group.jobs);
  const rows = Buffer.allocUnsafe(ENQUEUED_BYTES * jobs.length + 4);
  let row = 0;
  for (const job of jobs) {
    texts.add(JSON.stringify(job.facts));
    rows.writeUInt32LE(texts.at, row);
    rows.writeUInt32LE(texts.bytes, row + 4);
    rows.writeUInt32LE(job.at, row + 8);
    rows.writeUInt32LE(job.bytes, row + 12);
    texts.add(optionsOf(job));
    rows.writeUInt32LE(texts.at, row + 16);
    rows.writeUInt32LE(texts.bytes, row + 20);
    row += ENQUEUED_BYTES;
  }
  const text = Buffer.from(texts.all);
  rows.writeUInt32LE(text.length, row);
  return encodeFramed(head, rows, text, ...payloads);
}

/** Views of the bytes. */
export function decodeEnqueue(bytes: Uint8Array): {
  readonly groups: readonly IncomingGroup[];
  readonly isAllOrNone: boolean;
} {
  const { head, body } = decodeFramed(bytes);
  if (!isEnqueueHead(head)) throw new Error('The queue module sent jobs of an unknown shape');
  const count = head.groups.reduce((sum, { jobs }) => sum + jobs, 0);
  const textsAt = ENQUEUED_BYTES * count + 4;
  const texts = body.subarray(textsAt, textsAt + body.readUInt32LE(ENQUEUED_BYTES * count));
  const payloads = body.subarray(textsAt + texts.length);
  let row = 0;
  const next = (): IncomingJob => {
    const facts = sliceOf(texts, body, row);
    const payload = sliceOf(payloads, body, row + 8);
    const options = sliceOf(texts, body, row + 16);
    row += ENQUEUED_BYTES;
    return options.length === 0 ? { facts, payload } : { facts, payload, ...parseAs(options, isJobOptions) };
  };
  return {
    isAllOrNone: head.isAllOrNone,
    groups: head.groups.map(({ queue, rules, jobs }) => ({ queue, rules, jobs: Array.from({ length: jobs }, next) })),
  };
}

export function encodeAnswers(answers: readonly (Receipt | EnqueueAnswer)[]): Buffer {
  const parts = answers.map((answer): Buffer => {
    if ('seq' in answer) {
      const receipt = Buffer.allocUnsafe(1 + RECEIPT_BYTES);
      receipt[0] = 0;
      putReceipt(receipt, 1, answer);
      return receipt;
    }
    const json = toJson(answer);
    const length = Buffer.allocUnsafe(5);
    length[0] = 1;
    length.writeUInt32LE(json.length, 1);
    return Buffer.concat([length, json]);
  });
  return Buffer.concat(parts);
}

export function decodeAnswers(bytes: Uint8Array): EnqueueAnswer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const answers: EnqueueAnswer[] = [];
  for (let at = 0; at < all.length; ) {
    if (all[at] === 0) {
      answers.push({ id: receiptText(all, at + 1) });
      at += 1 + RECEIPT_BYTES;
      continue;
    }
    const end = at + 5 + all.readUInt32LE(at + 1);
    answers.push(parseAs(all.subarray(at + 5, end), isEnqueueAnswer));
    at = end;
  }
  return answers;
}

function optionsOf({ delayMs, priority, idempotencyKey, isKept }: NewJob): string {
  const isPlain = (delayMs ?? priority ?? idempotencyKey ?? isKept) === undefined;
  return isPlain ? '' : JSON.stringify({ delayMs, priority, idempotencyKey, isKept });
}

function sliceOf(from: Buffer, rows: Buffer, at: number): Buffer {
  const start = rows.readUInt32LE(at);
  return from.subarray(start, start + rows.readUInt32LE(at + 4));
}

/** Concatenated texts, each once. `at` and `bytes` describe the last one added. */
class Texts {
  all = '';
  at = 0;
  bytes = 0;
  readonly #known = new Map<string, { readonly at: number; readonly bytes: number }>();
  #end = 0;

  add(text: string): void {
    const known = this.#known.get(text);
    if (known === undefined) {
      const bytes = Buffer.byteLength(text);
      this.#known.set(text, { at: this.#end, bytes });
      this.all += text;
      this.at = this.#end;
      this.bytes = bytes;
      this.#end += bytes;
    } else {
      this.at = known.at;
      this.bytes = known.bytes;
    }
  }
}

const DONE_BYTES = 12;
const CLAIMED_BYTES = 32 + RECEIPT_BYTES;

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

export function encodeAdvanced(facts: AdvanceSummary, jobs: readonly Claimed[]): Buffer {
  let length = 0;
  for (const { record } of jobs) length += CLAIMED_BYTES + record.facts.length + record.payload.length;
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
    rows.set(about, at + CLAIMED_BYTES);
    rows.set(payload, at + CLAIMED_BYTES + about.length);
    at += CLAIMED_BYTES + about.length + payload.length;
  }
  return encodeFramed(facts, rows);
}

/** Payloads are views of the bytes. */
export function decodeAdvanced(bytes: Uint8Array): AdvanceSummary & { readonly jobs: readonly TakenJob[] } {
  const { head, body } = decodeFramed(bytes);
  if (!isAdvanceSummary(head)) throw new Error('The store answered a step with an unknown shape');
  const jobs: TakenJob[] = [];
  for (let at = 0; at < body.length; ) {
    const factsAt = at + CLAIMED_BYTES;
    const payloadAt = factsAt + body.readUInt32LE(at + 24 + RECEIPT_BYTES);
    const end = payloadAt + body.readUInt32LE(at + 28 + RECEIPT_BYTES);
    jobs.push({
      seq: body.readDoubleLE(at),
      token: body.readUInt32LE(at + 8),
      attempt: body.readUInt32LE(at + 12),
      enqueuedMs: body.readDoubleLE(at + 16),
      id: receiptText(body, at + 24),
      facts: sharedHeader(body.subarray(factsAt, payloadAt)),
      at: payloadAt,
      bytes: end - payloadAt,
      payload: body.subarray(payloadAt, end),
    });
    at = end;
  }
  return { ...head, jobs };
}

let lastJson = Buffer.alloc(0);
let lastHeader: JobHeader = { functionId: '' };

/** Adjacent jobs are mostly of one function. Facts are never changed. */
function sharedHeader(json: Buffer): JobHeader {
  if (lastJson.equals(json)) return lastHeader;
  lastHeader = readHeader(json);
  lastJson = Buffer.from(json);
  return lastHeader;
}
