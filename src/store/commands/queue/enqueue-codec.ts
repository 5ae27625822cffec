// The input and the answer of `queue::enqueue`. Both are mostly bytes: a busy queue moves tens of thousands of jobs a
// second between two threads.
//
//   u32 length of the head · head as JSON
//   for each job six u32: where its facts, payload and options lie, and how long they are
//   u32 length of the texts · facts and options as JSON · payloads
//
// The answer has for each job a byte 0 and its receipt, or a byte 1 and JSON of an `EnqueueAnswer` with its length.

import type {
  EnqueueAnswer,
  EnqueueHead,
  EnqueueInput,
  EnqueueRules,
  JobOptions,
  NewJob,
} from '../../../core/queue/shapes.ts';
import { isEnqueueAnswer, isEnqueueHead, isJobOptions } from '../../../generated/queue-shapes.ts';
import { decodeFramed, encodeFramed } from './framed.ts';
import type { JobParts } from './job-record.ts';
import { parseAs, toJson } from './marks.ts';
import { putReceipt, RECEIPT_BYTES, type Receipt, receiptText } from './receipt.ts';

export interface IncomingJob extends JobOptions, JobParts {}

export interface IncomingGroup {
  readonly queue: string;
  readonly rules: EnqueueRules;
  readonly jobs: readonly IncomingJob[];
}

const ROW_BYTES = 24;

/** `payloads` is the body that the jobs point into. */
export function encodeEnqueue({ groups, isAllOrNone }: EnqueueInput, ...payloads: readonly Uint8Array[]): Buffer {
  const head: EnqueueHead = {
    isAllOrNone,
    groups: groups.map(({ queue, rules, jobs }) => ({ queue, rules, jobs: jobs.length })),
  };
  const texts = new Texts();
  const jobs = groups.length === 1 && groups[0] !== undefined ? groups[0].jobs : groups.flatMap((group) => group.jobs);
  const rows = Buffer.allocUnsafe(ROW_BYTES * jobs.length + 4);
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
    row += ROW_BYTES;
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
  const textsAt = ROW_BYTES * count + 4;
  const texts = body.subarray(textsAt, textsAt + body.readUInt32LE(ROW_BYTES * count));
  const payloads = body.subarray(textsAt + texts.length);
  let row = 0;
  const next = (): IncomingJob => {
    const facts = sliceOf(texts, body, row);
    const payload = sliceOf(payloads, body, row + 8);
    const options = sliceOf(texts, body, row + 16);
    row += ROW_BYTES;
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
