// Publishes messages to their queues, each confirmed by the broker when its promise resolves.

import type { RabbitLink } from '../../../../effects/rabbitmq.ts';
import type { Topology } from './topology.ts';

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
