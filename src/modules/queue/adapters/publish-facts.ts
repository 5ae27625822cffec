// The facts that every adapter keeps of a message copy for a subscriber, with the context of the publisher: without it
// the trace of a message would end at its topic.

import type { JobFacts } from '../../../core/queue/shapes.ts';
import type { PublishTarget } from './adapter.ts';

/** Undefined entries are omitted, because the shapes of stores have no undefined. */
export function publishFacts({ functionId, traceparent, baggage }: PublishTarget): JobFacts {
  return {
    functionId,
    ...(traceparent !== undefined && { traceparent }),
    ...(baggage !== undefined && { baggage }),
  };
}
