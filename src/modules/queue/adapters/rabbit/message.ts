// A job as a message: its head as JSON, followed by its payload byte for byte; and the headers that the broker adds.

import type { BrokerJob } from '../../../../core/queue/records.ts';
import type { DeadRow, DeathReason } from '../../../../core/queue/shapes.ts';
import type { RabbitMessage } from '../../../../effects/rabbitmq.ts';
import { isBrokerJob } from '../../../../generated/queue-shapes.ts';
import { decodeFramed, encodeFramed } from '../../../../store/commands/queue/framed.ts';

export interface JobMessage {
  readonly job: BrokerJob;
  readonly payload: Buffer;
  /** Hand-overs as the broker counts them, without this one. */
  readonly deliveries: number;
  readonly deliveryTag: number;
}

export function encodeMessage(job: BrokerJob, payload: Uint8Array): Buffer {
  return encodeFramed(job, payload);
}

/** `undefined`: no engine of ours wrote it. */
export function readMessage({ body, headers, deliveryTag }: RabbitMessage): JobMessage | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    const { head, body: payload } = decodeFramed(body);
    if (!isBrokerJob(head)) return undefined;
    const counted = Number(Object(headers)['x-delivery-count'] ?? 0);
    return { job: head, payload, deliveries: head.deliveries + counted, deliveryTag };
  } catch {
    return undefined;
  }
}

/** Its history as a dead letter: in the head if the engine moved it, otherwise in the headers of the broker. */
export function deadRowOf({ headers }: RabbitMessage, { job, payload, deliveries }: JobMessage): DeadRow {
  const [byBroker] = Object(headers)['x-death'] ?? [];
  const reason = job.reason ?? brokerReason(job, String(Object(byBroker).reason));
  const diedS = job.diedMs === undefined ? Number(Object(byBroker).time ?? 0) : Math.floor(job.diedMs / 1_000);
  return {
    id: job.id,
    function_id: job.facts.functionId,
    error: job.reason === undefined ? BROKER_ERRORS[reason] : (job.error ?? ''),
    reason,
    failed_at: diedS,
    retries: job.attempts,
    deliveries: job.reason === undefined ? deliveries : job.deliveries,
    first_failed_at: job.firstFailedMs === undefined ? diedS : Math.floor(job.firstFailedMs / 1_000),
    enqueued_at: Math.floor(job.enqueuedMs / 1_000),
    size_bytes: payload.length,
  };
}

function brokerReason({ isKept }: BrokerJob, word: string): DeathReason {
  if (word === 'delivery_limit') return 'poison';
  return isKept === true ? 'no_subscriber' : 'function_not_found';
}

const BROKER_ERRORS: Readonly<Record<DeathReason, string>> = {
  failed: '',
  fatal: '',
  poison: 'handed over too often without an end',
  function_not_found: 'no worker offered the function in time',
  no_subscriber: 'no function subscribed to the topic in time',
};
