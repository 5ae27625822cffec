// Dead letters in RabbitMQ.

import type { BrokerJob } from '../../../../core/queue/records.ts';
import type { DeadListInput } from '../../../../core/queue/shapes.ts';
import { JsonList } from '../../../../store/thread/json-list.ts';
import { deadRowOf, encodeMessage } from './message.ts';
import type { Mover } from './mover.ts';
import type { Found, Inspector } from './scan.ts';
import type { Topology } from './topology.ts';

export class DeadLetters {
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
