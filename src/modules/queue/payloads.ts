// What the functions of this module take. `src/validators/queue-payloads.ts` compiles these shapes.

import type { JobState } from '../../core/queue/shapes.ts';

export type NothingPayload = Readonly<Record<string, unknown>>;

/** A named queue, or a topic: all its subscribers. Both names mean the same. */
export interface QueuePayload {
  queue?: string | null;
  topic?: string | null;
}

export interface MessagePayload extends QueuePayload {
  message_id?: string | null;
  /** Of a redrive: in place of the one that was enqueued. */
  payload?: unknown;
}

export interface TopicPagePayload extends QueuePayload {
  offset?: number | null;
  limit?: number | null;
  message_id?: string | null;
}

export interface JobPayload {
  messageReceiptId: string;
}

export interface JobsPayload extends QueuePayload {
  state?: JobState | null;
  offset?: number | null;
  limit?: number | null;
}

export interface ProgressPayload {
  messageReceiptId: string;
  value?: unknown;
}
