// The payloads of this module's functions, and the queues that they name. `src/validators/module-payloads.ts` compiles
// the shapes.

import { Refusal } from '../../core/calls/refusal.ts';
import { laneOf } from '../../core/queue/queue-names.ts';
import type { JobState } from '../../core/queue/shapes.ts';
import type { ErrorCode } from '../../protocol/frames/errors.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import type { Queues } from './queues.ts';
import type { RunnerContext } from './runner.ts';
import type { Topics } from './topics.ts';

export type NothingPayload = Readonly<Record<string, unknown>>;

/** A named queue, or a topic: all its subscribers. Both names mean the same. */
export interface QueuePayload {
  queue?: string | null;
  topic?: string | null;
}

/** For a move of dead letters: all of them, or these. */
export interface MovesPayload extends QueuePayload {
  ids?: string[] | null;
}

export interface MessagePayload extends QueuePayload {
  message_id?: string | null;
  /** Of a redrive: replaces the one that was enqueued. */
  payload?: unknown;
}

export interface TopicPagePayload extends QueuePayload {
  offset?: number | null;
  limit?: number | null;
  message_id?: string | null;
  /** Without payloads, pages of many are small. */
  payloads?: boolean | null;
}

export interface JobPayload {
  messageReceiptId: string;
}

export interface JobsPayload extends QueuePayload {
  state?: JobState | null;
  function_id?: string | null;
  attempt_min?: number | null;
  /** A part of it, or of the common text of similar errors. */
  error?: string | null;
  /** In receipt, error or payload; in Redis in receipt and error. */
  text?: string | null;
  /** FIFO: the value of the group. */
  group?: string | null;
  limit?: number | null;
  /** `next_cursor` of the answer before. */
  cursor?: string | null;
}

export interface GroupsPayload extends QueuePayload {
  limit?: number | null;
}

export interface ProgressPayload {
  messageReceiptId: string;
  value?: unknown;
}

export interface RecoverPayload {
  /** What happens to jobs that are done as far as an engine remembers. */
  done_jobs: 'discard' | 'run_again';
}

export interface QueueFunctionContext extends RunnerContext {
  readonly adapter: QueueAdapter;
  readonly queues: Queues;
  readonly topics: Topics;
  readonly payloadBytesMax: number;
}

export function namedQueue({ queue, topic }: QueuePayload, code: ErrorCode = 'queue_not_set'): string {
  const name = queue ?? topic ?? '';
  if (name === '') throw new Refusal(code, 'Neither queue nor topic is set');
  return name;
}

/** The queue with its lane, or the queues of all subscribers of the topic. */
export function innerNames(
  name: string,
  { queues, topics }: Pick<QueueFunctionContext, 'queues' | 'topics'>,
): string[] {
  const lane = laneOf(name);
  const all = queues.find(lane) === undefined && queues.removed(lane) === undefined ? [name] : [name, lane];
  return queues.find(name) === undefined ? [...all, ...topics.queuesOf(name)] : all;
}
