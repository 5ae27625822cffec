// A job as a message: its head as JSON, followed by its payload byte for byte; the headers that the broker adds; its
// receipt; and the publication to one of the queues.

import type { BrokerJob } from '../../../../core/queue/records.ts';
import type { DeadRow, DeathReason } from '../../../../core/queue/shapes.ts';
import type { Clock } from '../../../../effects/clock.ts';
import type { RabbitLink, RabbitMessage } from '../../../../effects/rabbitmq.ts';
import type { Random } from '../../../../effects/random.ts';
import { isBrokerJob } from '../../../../generated/queue-shapes.ts';
import { decodeFramed, encodeFramed } from '../../../../store/commands/queue/encoding.ts';
import { writeReceipt } from '../../../../store/commands/queue/receipt.ts';
import type { Topology } from './topology.ts';

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

/** Publishes messages to their queues, each confirmed by the broker when its promise resolves. */
export class Mover {
  readonly #link: RabbitLink;
  readonly #topology: Topology;

  constructor(link: RabbitLink, topology: Topology) {
    this.#link = link;
    this.#topology = topology;
  }

  now(queue: string, body: Buffer): Promise<void> {
    return this.#link.publish({ exchange: '', routingKey: this.#topology.names.work(queue), body });
  }

  async later(queue: string, delayMs: number, body: Buffer): Promise<void> {
    if (delayMs <= 0) return await this.now(queue, body);
    const { rung, routingKey } = this.#topology.names.wait(queue, delayMs);
    await this.#topology.ensureRungs(rung);
    await this.#link.publish({ exchange: this.#topology.names.rung(rung), routingKey, body });
  }

  parked(queue: string, ttlMs: number, body: Buffer): Promise<void> {
    const routingKey = this.#topology.names.parked(queue);
    return this.#link.publish({ exchange: '', routingKey, body, expiresMs: ttlMs });
  }

  dead(queue: string, body: Buffer): Promise<void> {
    return this.#link.publish({ exchange: '', routingKey: this.#topology.names.dead(queue), body });
  }
}

/**
 * Receipts of jobs that a broker keeps: UUIDs v7 that increase in the order in which one engine took its jobs (F3).
 * Random bits instead of the numbers of queue and store distinguish those of several engines.
 */
export class Receipts {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #queue: number;
  readonly #salt: number;
  #lastMs = 0;
  #lastSeq = 0;

  constructor(clock: Pick<Clock, 'nowMs'>, random: Pick<Random, 'uuid'>) {
    this.#clock = clock;
    const digits = random.uuid();
    this.#queue = Number.parseInt(digits.slice(0, 4), 16);
    this.#salt = Number.parseInt(digits.slice(4, 8), 16);
  }

  next(): { readonly id: string; readonly atMs: number } {
    this.#lastMs = Math.max(this.#lastMs, this.#clock.nowMs());
    const atMs = this.#lastMs;
    return { id: writeReceipt({ atMs, seq: ++this.#lastSeq, queue: this.#queue, salt: this.#salt }), atMs };
  }
}
