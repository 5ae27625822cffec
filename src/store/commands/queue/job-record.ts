// A job with a record of its own: it was delayed, grouped, has a priority, or did not end on its first run. All others
// lie in blocks (`job-block.ts`).
//
//   f64 when it was enqueued · u32 length of its facts · facts · payload

import type { JobFacts } from '../../../core/queue/shapes.ts';
import { isJobFacts } from '../../../generated/queue-shapes.ts';

/** What stays the same for the life of a job. */
export interface JobParts {
  /** JSON of its `JobFacts`. */
  readonly facts: Uint8Array;
  readonly payload: Uint8Array;
}

export interface JobRecord extends JobParts {
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

export function readFacts(json: Uint8Array): JobFacts {
  const facts: unknown = JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString('utf8'));
  if (!isJobFacts(facts)) throw new Error('A job has an unknown shape');
  return facts;
}
