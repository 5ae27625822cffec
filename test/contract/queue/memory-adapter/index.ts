// The adapter `memory`: its settings, and how the engine builds it.

import { fields, integer } from '../../../../src/core/config-fields/fields.ts';
import { defineQueueAdapter } from '../../../../src/modules/queue/adapters/adapter.ts';
import { MemoryQueues } from './memory-queues.ts';

const config = fields({
  jobs_max: integer({ default: 100_000, min: 1, help: 'Limit of the jobs of all queues together' }),
});

export const memoryQueues = defineQueueAdapter(
  { name: 'memory', aliases: [], classes: [], config },
  ({ clock }, settings) => new MemoryQueues(clock, settings.jobs_max),
);
