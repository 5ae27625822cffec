// Which changes become jobs, and of which queues. Pure: the same for a local store and for Redis.

import { Refusal } from '../../../core/calls/refusal.ts';
import type { ChangeTarget } from '../../../core/queue/shapes.ts';
import type { StoreEvent } from '../../thread/contract.ts';

export function isMeant(
  { where, exceptKind }: ChangeTarget,
  { path, kind }: Pick<StoreEvent, 'path' | 'kind'>,
): boolean {
  if (exceptKind === kind) return false;
  return where.every((name, index) => name === null || name === path[index]);
}

/** A job belongs to the trace of its cause. */
export function within(target: ChangeTarget, trace: string | undefined): ChangeTarget {
  if (trace === undefined) return target;
  const [traceparent = '', baggage = ''] = trace.split('\n');
  return { ...target, facts: { ...target.facts, traceparent, ...(baggage !== '' && { baggage }) } };
}

export const NOT_MADE = 'The change was not made, because a trigger makes a job of each change';

/** `bytes`: of the job, if they are known. */
export function jobTooLarge({ queue, payloadBytesMax }: ChangeTarget, bytes?: number): Refusal {
  const found = bytes === undefined ? 'more bytes than' : `${bytes} bytes, over`;
  const text = `The job for queue '${queue}' would have ${found} the limit of ${payloadBytesMax}`;
  return new Refusal('PAYLOAD_TOO_LARGE', text);
}
