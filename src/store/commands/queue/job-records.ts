// The records of jobs. A job that was delayed or grouped, has a priority, or did not end on its first run has a record
// of its own:
//
//   f64 when it was enqueued · u32 length of its header · header · payload
//
// All others lie in blocks of jobs that were enqueued together. Most jobs run once and are done, so a record for each
// of them would be most of the cost of a job:
//
//   f64 when they were enqueued · u16 how many · for each u32 where it ends
//   and for each: u32 length of its header · header · payload
//
// The state of a block whose first job has been claimed is a second record:
//
//   u16 how many · a bit for each that has left the block

import type { JobHeader } from '../../../core/queue/shapes.ts';
import { isJobHeader } from '../../../generated/queue-shapes.ts';

/** What stays the same for the life of a job. */
export interface JobBytes {
  /** JSON of its `JobHeader`. */
  readonly facts: Uint8Array;
  readonly payload: Uint8Array;
}

export interface JobRecord extends JobBytes {
  readonly enqueuedMs: number;
}

const FACTS_AT = 12;

export function encodeJob({ enqueuedMs, facts, payload }: JobRecord): Buffer {
  const record = Buffer.allocUnsafe(FACTS_AT + facts.length + payload.length);
  record.writeDoubleLE(enqueuedMs, 0);
  record.writeUInt32LE(facts.length, 8);
  record.set(facts, FACTS_AT);
  record.set(payload, FACTS_AT + facts.length);
  return record;
}

/** Views of the record. */
export function decodeJob(value: Uint8Array): JobRecord {
  const record = Buffer.from(value.buffer, value.byteOffset, value.length);
  const end = FACTS_AT + record.readUInt32LE(8);
  return { enqueuedMs: record.readDoubleLE(0), facts: record.subarray(FACTS_AT, end), payload: record.subarray(end) };
}

export function readHeader(json: Uint8Array): JobHeader {
  const facts: unknown = JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8'));
  if (!isJobHeader(facts)) throw new Error('A job has an unknown shape');
  return facts;
}

const HEAD_BYTES = 10;

export const BLOCK_JOBS_MAX = 128;

export function encodeBlock(enqueuedMs: number, jobs: readonly JobBytes[]): Buffer {
  const bodyAt = HEAD_BYTES + 4 * jobs.length;
  let length = bodyAt;
  for (const { facts, payload } of jobs) length += 4 + facts.length + payload.length;
  const block = Buffer.allocUnsafe(length);
  block.writeDoubleLE(enqueuedMs, 0);
  block.writeUInt16LE(jobs.length, 8);
  let at = bodyAt;
  let index = 0;
  for (const { facts, payload } of jobs) {
    block.writeUInt32LE(facts.length, at);
    block.set(facts, at + 4);
    block.set(payload, at + 4 + facts.length);
    at += 4 + facts.length + payload.length;
    block.writeUInt32LE(at, HEAD_BYTES + 4 * index++);
  }
  return block;
}

/** Views of the record. */
export class JobBlock {
  readonly first: number;
  readonly count: number;
  readonly #block: Buffer;

  constructor(first: number, value: Uint8Array) {
    this.first = first;
    this.#block = Buffer.from(value.buffer, value.byteOffset, value.length);
    this.count = this.#block.readUInt16LE(8);
  }

  job(seq: number): JobRecord {
    const block = this.#block;
    const index = seq - this.first;
    const start = index === 0 ? HEAD_BYTES + 4 * this.count : block.readUInt32LE(HEAD_BYTES + 4 * (index - 1));
    const factsEnd = start + 4 + block.readUInt32LE(start);
    return {
      enqueuedMs: block.readDoubleLE(0),
      facts: block.subarray(start + 4, factsEnd),
      payload: block.subarray(factsEnd, block.readUInt32LE(HEAD_BYTES + 4 * index)),
    };
  }
}

/** Which jobs of a block have left it. */
export class BlockState {
  readonly first: number;
  readonly count: number;
  readonly bytes: Buffer;
  #left: number;

  constructor(first: number, bytes: Uint8Array) {
    this.first = first;
    this.bytes = Buffer.from(bytes);
    this.count = this.bytes.readUInt16LE(0);
    this.#left = this.count;
    for (let index = 0; index < this.count; index++) if (this.#bit(index)) this.#left--;
  }

  static fresh({ first, count }: JobBlock): BlockState {
    const bytes = Buffer.alloc(2 + Math.ceil(count / 8));
    bytes.writeUInt16LE(count);
    return new BlockState(first, bytes);
  }

  get isEmpty(): boolean {
    return this.#left === 0;
  }

  /** Whether the job belongs to the block and is still in it. */
  holds(seq: number): boolean {
    return seq >= this.first && seq < this.first + this.count && !this.#bit(seq - this.first);
  }

  leave(seq: number): void {
    const index = seq - this.first;
    const at = 2 + (index >> 3);
    this.bytes[at] = (this.bytes[at] ?? 0) | (1 << (index & 7));
    this.#left--;
  }

  #bit(index: number): boolean {
    return ((this.bytes[2 + (index >> 3)] ?? 0) & (1 << (index & 7))) !== 0;
  }
}
