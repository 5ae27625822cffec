// Shared by the functions of this module.

import { Refusal } from '../../core/calls/refusal.ts';
import type { ErrorCode } from '../../protocol/frames/errors.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import type { QueuePayload } from './payloads.ts';
import type { Queues } from './queues.ts';
import type { RunnerParts } from './runner.ts';
import type { Topics } from './topics.ts';

export interface FunctionParts extends RunnerParts {
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

/** The queue itself, or those of all subscribers of the topic. */
export function innerNames(name: string, { queues, topics }: Pick<FunctionParts, 'queues' | 'topics'>): string[] {
  return queues.find(name) === undefined ? [name, ...topics.queuesOf(name)] : [name];
}

/** A queue of a topic is shown under the topic. */
export function shownName(queue: string): string {
  const end = queue.indexOf('\n');
  return end < 0 ? queue : queue.slice(0, end);
}
