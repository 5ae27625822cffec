// A job as it is kept: written when it is enqueued, changed only when somebody edits a dead letter.
//
//   f64 when it was enqueued · u8 whether it has a mark from the start · u32 length of its facts · facts · payload

import type { JobFacts } from '../../core/queue/shapes.ts';
import { isJobFacts } from '../../generated/queue-shapes.ts';

export interface JobRecord {
  readonly enqueuedMs: number;
  /** It was placed when it was enqueued: whoever reads fresh jobs passes over it. */
  readonly isPlaced: boolean;
  readonly facts: JobFacts;
  readonly payload: Buffer;
}

const FACTS_AT = 13;

export function encodeJob({ enqueuedMs, isPlaced, facts, payload }: JobRecord): Buffer {
  const json = Buffer.from(JSON.stringify(facts));
  const record = Buffer.allocUnsafe(FACTS_AT + json.length + payload.length);
  record.writeDoubleLE(enqueuedMs, 0);
  record[8] = isPlaced ? 1 : 0;
  record.writeUInt32LE(json.length, 9);
  record.set(json, FACTS_AT);
  record.set(payload, FACTS_AT + json.length);
  return record;
}

/** Views of the record. */
export function decodeJob(value: Uint8Array): JobRecord {
  const record = Buffer.from(value.buffer, value.byteOffset, value.length);
  const end = FACTS_AT + record.readUInt32LE(9);
  const facts: unknown = JSON.parse(record.toString('utf8', FACTS_AT, end));
  if (!isJobFacts(facts)) throw new Error('A job has not the shape that was written');
  return { enqueuedMs: record.readDoubleLE(0), isPlaced: isPlaced(record), facts, payload: record.subarray(end) };
}

export function isPlaced(record: Uint8Array): boolean {
  return record[8] === 1;
}
