// The settings of the queue module: its queues, and where their jobs are kept.

import { fields, integer, mapOf, oneOf, optional, text, type ValueOf } from '../../core/config-fields/fields.ts';
import type { FieldProblem } from '../../core/config-fields/fields-check.ts';
import type { ModuleDeclaration } from '../../core/config-fields/module-declaration.ts';
import type { EnqueueRules } from '../../core/queue/shapes.ts';
import { BACKOFF_MS_MAX, type RetryRules } from '../../core/queue/waits.ts';
import { CALL_TIMEOUT_MS_MAX, ID_BYTES_MAX, idOffence } from '../../protocol/frames/limits.ts';
import type { ChosenAdapter } from '../module.ts';
import { QUEUE_ADAPTERS } from './adapters/catalogue.ts';

const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;

const queueFields = fields({
  max_retries: integer({ default: 3, min: 0, max: 100, help: 'Attempts after the first; then it is a dead letter' }),
  concurrency: integer({ default: 10, min: 1, max: 10_000, help: 'Jobs that run at once; a fifo queue runs one' }),
  type: oneOf(['standard', 'fifo'], { default: 'standard', help: 'fifo: one after the other inside a group' }),
  message_group_field: optional(
    text({ bytesMax: ID_BYTES_MAX, help: 'Field of the payload whose value is the group; a fifo queue needs it' }),
  ),
  backoff_ms: integer({
    default: 1_000,
    min: 0,
    max: BACKOFF_MS_MAX,
    help: 'Wait after the first failed attempt; doubles with each attempt, up to an hour',
  }),
  backoff_max_ms: optional(
    integer({ min: 0, max: BACKOFF_MS_MAX, help: 'Longest wait between two attempts; an hour if omitted' }),
  ),
  job_timeout_ms: integer({
    default: 900_000,
    min: 1,
    max: CALL_TIMEOUT_MS_MAX,
    help: 'An attempt that takes longer has failed',
  }),
  unroutable_ttl_ms: integer({
    default: DAY_MS,
    min: 1_000,
    max: 30 * DAY_MS,
    help: 'How long a job waits for a worker that offers its function',
  }),
  max_jobs: integer({
    default: 1_000_000,
    min: 1,
    max: 10_000_000,
    help: 'Limit of jobs; beyond it, jobs are refused',
  }),
  max_dead_letters: integer({
    default: 100_000,
    min: 1,
    help: 'Limit of dead letters; beyond it, the queue takes no new jobs',
  }),
  max_priority: optional(integer({ min: 1, max: 255, help: 'Accepted and not used: priorities go from 0 to 255' })),
  priority_field: optional(
    text({ bytesMax: ID_BYTES_MAX, help: 'Field of the payload that gives the priority, 0 to 255; higher runs first' }),
  ),
  poll_interval_ms: optional(integer({ min: 1, help: 'Accepted and not used: due jobs are not polled' })),
});

export type QueueFields = ValueOf<typeof queueFields>;

const queueConfig = fields({
  queue_configs: mapOf(queueFields, { default: {}, help: 'Queues by name; `default` exists without being named' }),
  max_payload_bytes: integer({ default: MIB, min: 1, max: 7 * MIB, help: 'Largest payload of a job' }),
  topic_unroutable_ttl_ms: integer({
    default: DAY_MS,
    min: 1_000,
    max: 30 * DAY_MS,
    help: 'How long a published message waits for a first subscriber, and a subscription for its worker',
  }),
});

export type QueueModuleConfig = ValueOf<typeof queueConfig>;

export const queueDeclaration = {
  name: 'svc-queue',
  aliases: ['queue'],
  classes: ['modules::queue::QueueModule'],
  repeatable: false,
  alwaysLoaded: false,
  config: queueConfig,
  adapters: QUEUE_ADAPTERS.map(({ declaration }) => declaration),
  contradictions: (config, adapter) => [
    ...Object.entries(config.queue_configs).flatMap(([name, queue]) => wrongOf(name, queue)),
    ...(adapter === undefined ? [] : adapterOffences(config, adapter)),
  ],
} satisfies ModuleDeclaration<QueueModuleConfig>;

function wrongOf(name: string, { type, message_group_field: group, priority_field: priority }: QueueFields) {
  const problems: FieldProblem[] = [];
  const path = ['queue_configs', name];
  const offence = idOffence(name);
  if (offence !== undefined) problems.push({ path, at: 'key', message: `the name of the queue ${offence}` });
  if (type === 'fifo' && group === undefined) {
    const message = `a fifo queue needs message_group_field: the field of the payload that names the group`;
    problems.push({ path, at: 'key', message });
  }
  if (type === 'fifo' && priority !== undefined) {
    const message = 'a fifo queue keeps its order and has no priorities';
    problems.push({ path: [...path, 'priority_field'], at: 'key', message });
  }
  return problems;
}

/** Queues that the adapter cannot keep. */
function adapterOffences(config: QueueModuleConfig, adapter: ChosenAdapter): FieldProblem[] {
  const definition = QUEUE_ADAPTERS.find(({ declaration }) => declaration.name === adapter.name);
  return configuredQueues(config).flatMap((settings) => {
    const message = definition?.queueOffence(settings, adapter);
    return message === undefined ? [] : [{ path: ['queue_configs', settings.name], at: 'key', message }];
  });
}

/** A queue in the form that its runner and its store need. */
export interface QueueSettings {
  readonly name: string;
  readonly isFifo: boolean;
  readonly concurrency: number;
  readonly retry: RetryRules;
  readonly jobTimeoutMs: number;
  readonly rules: EnqueueRules;
}

export function settingsOf(name: string, queue: QueueFields): QueueSettings {
  return {
    name,
    isFifo: queue.type === 'fifo',
    concurrency: queue.concurrency,
    retry: {
      maxRetries: queue.max_retries,
      backoffMs: queue.backoff_ms,
      isExponential: true,
      ...(queue.backoff_max_ms !== undefined && { waitMsMax: queue.backoff_max_ms }),
    },
    jobTimeoutMs: queue.job_timeout_ms,
    rules: {
      maxJobs: queue.max_jobs,
      maxDeadLetters: queue.max_dead_letters,
      unroutableTtlMs: queue.unroutable_ttl_ms,
      ...(queue.type === 'fifo' &&
        queue.message_group_field !== undefined && { groupField: queue.message_group_field }),
      ...(queue.priority_field !== undefined && { priorityField: queue.priority_field }),
    },
  };
}

/** All queues of the file, and `default`. */
export function configuredQueues({ queue_configs: configured }: QueueModuleConfig): QueueSettings[] {
  return Object.entries({ default: QUEUE_DEFAULTS, ...configured }).map(([name, fields]) => settingsOf(name, fields));
}

/** The settings of queues that the file does not describe: `default`, and the queues of topics. */
export const QUEUE_DEFAULTS: QueueFields = {
  max_retries: 3,
  concurrency: 10,
  type: 'standard',
  message_group_field: undefined,
  backoff_ms: 1_000,
  backoff_max_ms: undefined,
  job_timeout_ms: 900_000,
  unroutable_ttl_ms: DAY_MS,
  max_jobs: 1_000_000,
  max_dead_letters: 100_000,
  max_priority: undefined,
  priority_field: undefined,
  poll_interval_ms: undefined,
};
