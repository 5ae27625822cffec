// What every adapter keeps of a copy that is published to a subscriber, the context of the publisher included: without
// it the trace of a message would end at its topic.

import type { JobFacts } from '../../../core/queue/shapes.ts';
import type { PublishTarget } from './adapter.ts';

/** Absent entries are left out: the shapes of stores know no undefined. */
export function publishFacts({ functionId, traceparent, baggage }: PublishTarget): JobFacts {
  return {
    functionId,
    ...(traceparent !== undefined && { traceparent }),
    ...(baggage !== undefined && { baggage }),
  };
}
