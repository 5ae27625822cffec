// A channel to RabbitMQ on which no call waits without end. The broker answers, or the call fails after 20 s and the
// channel is given up, because every later call would wait for the unanswered one.
//
// A healthy connection can still leave a call without an answer: the broker waits for a queue that has no leader, or
// sends nothing while it blocks publishers, and then the client ignores heartbeats too.

import { AMQPError, type AsyncMessage, type Channel, type Connection } from 'rabbitmq-client';
import { atMost, type Clock } from './clock.ts';

/** Less than the deadline of most calls. */
export const ANSWER_MS_MAX = 20_000;

type Timers = Pick<Clock, 'after'>;
type Asked<Method extends 'queueDeclare' | 'queueDelete' | 'queueBind' | 'exchangeDeclare' | 'exchangeBind'> =
  Parameters<Channel[Method]>[0];

export class RabbitChannel {
  readonly #channel: Channel;
  readonly #clock: Timers;

  constructor(channel: Channel, clock: Timers) {
    this.#channel = channel;
    this.#clock = clock;
  }

  static async open(connection: Connection, clock: Timers): Promise<RabbitChannel> {
    const opening = connection.acquire();
    try {
      return new RabbitChannel(await answered(clock, opening), clock);
    } catch (error) {
      // An answer that comes too late has no caller.
      opening.then((channel) => channel.close()).catch(() => {});
      throw error;
    }
  }

  /** False: it has ended, or is about to. */
  get active(): boolean {
    return this.#channel.active;
  }

  onClose(listener: () => void): void {
    this.#channel.on('close', listener);
  }

  /** The broker ended the consumer. */
  onCancel(listener: () => void): void {
    this.#channel.on('basic.cancel', listener);
  }

  /** No queue took a message that was published here. */
  onReturn(listener: (messageId: string, replyText: string) => void): void {
    this.#channel.on('basic.return', ({ messageId = '', replyText }) => listener(messageId, replyText));
  }

  queueDeclare(params: Asked<'queueDeclare'>) {
    return this.#ask(this.#channel.queueDeclare(params));
  }

  /** The channel ends when there is none. */
  async hasQueue(queue: string): Promise<boolean> {
    try {
      await this.queueDeclare({ queue, passive: true });
      return true;
    } catch (error) {
      if (error instanceof AMQPError && error.code === 'NOT_FOUND') return false;
      throw error;
    }
  }

  queueDelete(params: Asked<'queueDelete'>) {
    return this.#ask(this.#channel.queueDelete(params));
  }

  queueBind(params: Asked<'queueBind'>) {
    return this.#ask(this.#channel.queueBind(params));
  }

  exchangeDeclare(params: Asked<'exchangeDeclare'>) {
    return this.#ask(this.#channel.exchangeDeclare(params));
  }

  exchangeBind(params: Asked<'exchangeBind'>) {
    return this.#ask(this.#channel.exchangeBind(params));
  }

  confirmSelect() {
    return this.#ask(this.#channel.confirmSelect());
  }

  basicQos(prefetchCount: number) {
    return this.#ask(this.#channel.basicQos({ prefetchCount }));
  }

  basicConsume(queue: string, consumerTag: string, receive: (message: AsyncMessage) => void) {
    return this.#ask(this.#channel.basicConsume({ queue, consumerTag }, receive));
  }

  basicCancel(consumerTag: string) {
    return this.#ask(this.#channel.basicCancel(consumerTag));
  }

  basicGet(queue: string) {
    return this.#ask(this.#channel.basicGet(queue));
  }

  /** The publisher keeps the time limit: the message waits, not the channel. */
  basicPublish: Channel['basicPublish'] = (envelope, body) => this.#channel.basicPublish(envelope, body);

  basicAck: Channel['basicAck'] = (params) => this.#channel.basicAck(params);

  basicNack: Channel['basicNack'] = (params) => this.#channel.basicNack(params);

  /** Unacknowledged messages return to the queue, at the latest with the end of the connection. */
  async close(): Promise<void> {
    await atMost(this.#clock, ANSWER_MS_MAX, this.#channel.close());
  }

  async #ask<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answered(this.#clock, answer);
    } catch (error) {
      if (error instanceof Unanswered) void this.#channel.close();
      throw error;
    }
  }
}

class Unanswered extends Error {
  constructor() {
    super(`it did not answer within ${ANSWER_MS_MAX / 1_000} s`);
  }
}

async function answered<T>(clock: Timers, answer: Promise<T>): Promise<T> {
  let cancel = (): void => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ANSWER_MS_MAX, () => reject(new Unanswered()));
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
  }
}
