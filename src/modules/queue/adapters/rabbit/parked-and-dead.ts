// The jobs outside the work queue, each kind in a queue of its own: dead letters; and parked jobs, whose function no
// worker offers, with messages that wait for a first subscriber. RabbitMQ dead-letters parked ones when their time is
// over.

import type { BrokerJob } from '../../../../core/queue/records.ts';
import type { DeadListInput } from '../../../../core/queue/shapes.ts';
import { JsonList } from '../../../../store/thread/json-list.ts';
import { deadRowOf, encodeMessage, type Mover } from './messages.ts';
import type { Found, Inspector } from './scan.ts';
import type { Topology } from './topology.ts';

/**
 * The limit for one job. Beyond it, the function comes and goes, and the engine that parks its jobs wakes them again.
 */
const COPIES_MAX = 20;

export class ParkedJobs {
  readonly #inspector: Inspector;
  readonly #topology: Topology;
  readonly #mover: Mover;

  constructor(inspector: Inspector, topology: Topology, mover: Mover) {
    this.#inspector = inspector;
    this.#topology = topology;
    this.#mover = mover;
  }

  async functions(queue: string): Promise<string[]> {
    const found = new Set<string>();
    await this.#inspector.each(this.#topology.names.parked(queue), {
      judge: ({ message }) => {
        found.add(message.job.facts.functionId);
        return 'kept';
      },
    });
    return [...found];
  }

  /**
   * Moves the parked jobs of the function back. Each is in its new place before it leaves the old one.
   *
   * An engine that was killed while it parked a job leaves a copy for each time, because a message is confirmed at its
   * new place before it is acknowledged at the old one. One inspection takes one of the copies: any other looks to it
   * like the same job parked again.
   */
  async wake(queue: string, functionId: string): Promise<number> {
    let woken = 0;
    for (let copy = 0; copy < COPIES_MAX; copy++) {
      let found = 0;
      const taken = await this.#inspector.each(this.#topology.names.parked(queue), {
        judge: ({ message }) => {
          if (message.job.facts.functionId !== functionId) return 'kept';
          found++;
          return 'taken';
        },
        move: ({ message: { job, payload } }) => this.#mover.now(queue, encodeMessage(job, payload)),
      });
      woken += taken;
      if (taken === found) break;
    }
    return woken;
  }

  /** Messages that do not fit stay where they are. */
  async handTo(from: string, to: string, functionId: string, hasCapacity: () => boolean): Promise<number> {
    return await this.#inspector.each(this.#topology.names.parked(from), {
      judge: () => (hasCapacity() ? 'taken' : 'kept, and enough'),
      move: ({ message }) => {
        const { isKept: _isKept, ...job } = message.job;
        const facts = { ...job.facts, functionId };
        return this.#mover.now(to, encodeMessage({ ...job, facts }, message.payload));
      },
    });
  }
}

export class DeadLetterQueues {
  readonly #inspector: Inspector;
  readonly #topology: Topology;
  readonly #mover: Mover;

  constructor(inspector: Inspector, topology: Topology, mover: Mover) {
    this.#inspector = inspector;
    this.#topology = topology;
    this.#mover = mover;
  }

  /** Newest first. */
  async list(page: DeadListInput): Promise<Uint8Array> {
    const { queue, offset, limit, id, withoutPayload = false } = page;
    const all: Found[] = [];
    await this.#inspector.each(this.#topology.names.dead(queue), {
      judge: (found) => {
        if (id === undefined || found.message.job.id === id) all.push(found);
        return id !== undefined && all.length > 0 ? 'kept, and enough' : 'kept';
      },
    });
    const list = new JsonList('engine::queue::dlq_messages', { offset, limit, limitOrOneMore: limit });
    for (const { raw, message } of id === undefined ? all.reverse().slice(offset, offset + limit) : all) {
      const json = JSON.stringify(deadRowOf(raw, message));
      if (withoutPayload) list.add(Buffer.from(json));
      else list.add(Buffer.from(`${json.slice(0, -1)},"payload":`), message.payload, BRACE);
    }
    return list.end();
  }

  /** Each is in its queue before it leaves this one (Q10): between the two it may be seen in both. */
  async redrive(queue: string, id?: string, payload?: Uint8Array): Promise<number> {
    return await this.#take(queue, id, async ({ message }) => {
      const { id: receipt, enqueuedMs, facts } = message.job;
      const job: BrokerJob = { id: receipt, enqueuedMs, facts, attempts: 0, deliveries: 0 };
      await this.#mover.now(queue, encodeMessage(job, payload ?? message.payload));
    });
  }

  async discard(queue: string, id?: string): Promise<number> {
    return await this.#take(queue, id, async () => {});
  }

  async #take(queue: string, id: string | undefined, move: (found: Found) => Promise<void>): Promise<number> {
    return await this.#inspector.each(this.#topology.names.dead(queue), {
      judge: ({ message }) => {
        if (id !== undefined && message.job.id !== id) return 'kept';
        return id === undefined ? 'taken' : 'taken, and enough';
      },
      move,
    });
  }
}

const BRACE = Buffer.from('}');
