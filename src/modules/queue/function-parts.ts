// Shared by the functions of this module.

import { Refusal } from '../../core/calls/refusal.ts';
import { laneOf } from '../../core/queue/queue-names.ts';
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

/** The queue with its lane, or the queues of all subscribers of the topic. */
export function innerNames(name: string, { queues, topics }: Pick<FunctionParts, 'queues' | 'topics'>): string[] {
  const lane = laneOf(name);
  const all = queues.find(lane) === undefined && queues.removed(lane) === undefined ? [name] : [name, lane];
  return queues.find(name) === undefined ? [...all, ...topics.queuesOf(name)] : all;
}
