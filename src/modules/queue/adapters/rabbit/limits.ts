// What RabbitMQ cannot do for a queue, and what its own time limit forbids: refused at the start or for each job, never
// ignored silently. `docs/queues.md` lists it for users.

import { retryDelayMs } from '../../../../core/queue/backoff.ts';
import type { EnqueueRefused, EnqueueRules } from '../../../../core/queue/shapes.ts';
import type { JobToKeep, QueueKind } from '../adapter.ts';
import { WAIT_MS_MAX } from './topology.ts';

/** The share of the time after which RabbitMQ gives a job to another consumer. */
const SHARE_OF_TIMEOUT = 2 / 3;

/** Why the queue cannot be kept here. */
export function kindOffence(queue: string, kind: QueueKind, consumerTimeoutMs: number): string | undefined {
  const { isFifo, retry, jobTimeoutMs, rules } = kind;
  if (rules.priorityField !== undefined) {
    return `The queue '${queue}' has a priority_field: quorum queues of RabbitMQ have no priorities`;
  }
  if (jobTimeoutMs >= consumerTimeoutMs) {
    const text = `job_timeout_ms ${jobTimeoutMs} of the queue '${queue}' must be below consumer_timeout_ms`;
    return `${text} ${consumerTimeoutMs}: RabbitMQ gives a job that takes longer to another consumer`;
  }
  if (!isFifo) return undefined;
  const limitMs = Math.floor(consumerTimeoutMs * SHARE_OF_TIMEOUT);
  let totalMs = 0;
  for (let attempt = 1; attempt <= retry.maxRetries; attempt++) totalMs += retryDelayMs(retry, attempt) ?? 0;
  if (totalMs <= limitMs) return undefined;
  const text = `The waits of the fifo queue '${queue}' add up to ${totalMs} ms, over two thirds of consumer_timeout_ms`;
  return `${text} (${limitMs} ms): lower backoff_ms or max_retries`;
}

/** Why the job cannot be kept here. */
export function jobOffence(job: JobToKeep, rules: EnqueueRules): EnqueueRefused | undefined {
  const { idempotencyKey, priority = 0, delayMs = 0 } = job;
  if (idempotencyKey !== undefined) return cannot('recognise an idempotency_key');
  if (priority > 0) return cannot('give a job a priority: its quorum queues have none');
  if (delayMs > WAIT_MS_MAX) return cannot(`delay a job for more than ${WAIT_MS_MAX} ms`);
  if (delayMs > 0 && (rules.groupField !== undefined || rules.isOneGroup === true)) {
    return cannot('delay a job of a fifo queue: it would lose its place');
  }
  return undefined;
}

function cannot(what: string): EnqueueRefused {
  return { reason: 'INVALID_ARGUMENTS', message: `The adapter rabbitmq cannot ${what}` };
}
