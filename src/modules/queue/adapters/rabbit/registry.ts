// What a broker does not report about its queues: their names and kinds, whether they are paused, and the subscriptions
// of topics. It is one message in a queue of its own.
//
// To change it, an engine fetches the message, writes the next one and only then acknowledges the old one: meanwhile no
// other engine can get it. A crash between the two leaves both, and the higher version counts.

import { Refusal } from '../../../../core/calls/refusal.ts';
import type { BrokerRegistry, RegisteredQueue } from '../../../../core/queue/records.ts';
import type { Clock } from '../../../../effects/clock.ts';
import type { RabbitChannel } from '../../../../effects/rabbit-channel.ts';
import type { RabbitLink } from '../../../../effects/rabbitmq.ts';
import { isBrokerRegistry } from '../../../../generated/queue-shapes.ts';
import { declareQuorum } from './topology.ts';

/** Another engine that holds the message returns it long before. */
const ATTEMPTS_MAX = 100;
const AGAIN_MS = 30;

export class QueueRegistry {
  readonly #link: RabbitLink;
  readonly #queue: string;
  readonly #clock: Pick<Clock, 'after'>;
  #last: BrokerRegistry = { version: 0, queues: [], subscriptions: [] };
  #line: Promise<unknown> = Promise.resolve();

  constructor(link: RabbitLink, queue: string, clock: Pick<Clock, 'after'>) {
    this.#link = link;
    this.#queue = queue;
    this.#clock = clock;
  }

  /** As this engine last read or wrote it. */
  get last(): BrokerRegistry {
    return this.#last;
  }

  find(queue: string): RegisteredQueue | undefined {
    return this.#last.queues.find(({ name }) => name === queue);
  }

  async read(): Promise<BrokerRegistry> {
    return await this.change((registry) => registry);
  }

  async changeQueue(name: string, change: Partial<RegisteredQueue>): Promise<void> {
    await this.change((registry) => {
      const known = registry.queues.find((queue) => queue.name === name);
      const others = registry.queues.filter((queue) => queue.name !== name);
      return { ...registry, queues: [...others, { isPaused: false, ...known, name, ...change }] };
    });
  }

  /** One change after the other; durable when it resolves. A change that returns the same registry writes nothing. */
  async change(change: (registry: BrokerRegistry) => BrokerRegistry): Promise<BrokerRegistry> {
    const changed = this.#line.catch(() => {}).then(() => this.#link.use((channel) => this.#change(channel, change)));
    this.#line = changed;
    return await changed;
  }

  async #change(channel: RabbitChannel, change: (registry: BrokerRegistry) => BrokerRegistry): Promise<BrokerRegistry> {
    const isNew = await this.#declare(channel);
    const found = isNew ? { registry: this.#last, tag: undefined } : await this.#fetch(channel);
    const next = change(found.registry);
    if (next === found.registry && !isNew) {
      this.#last = next;
      if (found.tag !== undefined) channel.basicNack({ deliveryTag: found.tag, multiple: true, requeue: true });
      return next;
    }
    const written = { ...next, version: found.registry.version + 1 };
    await this.#link.publish({ exchange: '', routingKey: this.#queue, body: Buffer.from(JSON.stringify(written)) });
    if (found.tag !== undefined) channel.basicAck({ deliveryTag: found.tag, multiple: true });
    this.#last = written;
    return written;
  }

  /** Whether it was not declared before. */
  async #declare(channel: RabbitChannel): Promise<boolean> {
    if (await this.#link.use((other) => other.hasQueue(this.#queue))) return false;
    await declareQuorum(channel, this.#queue, {});
    return true;
  }

  async #fetch(
    channel: RabbitChannel,
  ): Promise<{ readonly registry: BrokerRegistry; readonly tag: number | undefined }> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      let best: BrokerRegistry | undefined;
      let tag: number | undefined;
      for (let message = await channel.basicGet(this.#queue); message; message = await channel.basicGet(this.#queue)) {
        tag = message.deliveryTag;
        const registry = readRegistry(message.body);
        if (registry !== undefined && registry.version >= (best?.version ?? 0)) best = registry;
      }
      if (best !== undefined) return { registry: best, tag };
      await new Promise<void>((resolve) => this.#clock.after(AGAIN_MS, resolve));
    }
    throw new Refusal('STORAGE_UNAVAILABLE', `The registry of queues in RabbitMQ (${this.#queue}) is not available`);
  }
}

function readRegistry(body: unknown): BrokerRegistry | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  const registry: unknown = JSON.parse(body.toString('utf8'));
  return isBrokerRegistry(registry) ? registry : undefined;
}
