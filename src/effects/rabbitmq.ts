// With `rabbit-channel.ts` the one place that knows the RabbitMQ client: a connection, channels on it, and publishing
// with a receipt. Loaded when a link is made.
//
// States of a link and its transitions:
//   opening   `open` was called; retries for 60 s, then gives up for good (K3), at once if refused
//   up        channels can be opened; ends when the connection is lost
//   away      everything fails at once with STORAGE_UNAVAILABLE; reconnects with backoff, for ever
//   closed    `close` was called
// Invariants:
//   - `publish` resolves only when the broker has confirmed the message and routed it to a queue. It waits 20 s for
//     that, as every call waits 20 s for its answer, and 8 s where the broker has several nodes.
//   - While the broker blocks publishers (memory or disk alarm) a message is refused; none waits for the end of it.
//   - User info of the address appears nowhere: not in health, errors or the log (X22).

import { AMQPError, type AsyncMessage, Connection, type SyncMessage } from 'rabbitmq-client';
import { Refusal } from '../core/calls/refusal.ts';
import { redactUrl } from '../core/config-fields/redaction.ts';
import { rabbitAddressesOffence } from '../core/queue/rabbit-address.ts';
import type { Clock } from './clock.ts';
import { atMost } from './clock.ts';
import type { Logger } from './logger.ts';
import { ANSWER_MS_MAX, RabbitChannel } from './rabbit-channel.ts';
import { StartFailure } from './start-failure.ts';

export type RabbitMessage = AsyncMessage | SyncMessage;

export interface RabbitOptions {
  /** Of the nodes, which are tried in this order, and again from the first. */
  readonly urls: readonly string[];
  /** The purpose of the link: shown in the log and in the broker's list of connections. */
  readonly purpose: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The connection is up, for the first time or again. */
  readonly onUp: () => void;
}

export interface Publication {
  readonly exchange: string;
  readonly routingKey: string;
  readonly body: Buffer;
  /** The TTL of the message in its queue, in milliseconds. */
  readonly expiresMs?: number;
}

/** How long a broker may be unreachable at the start (K3). */
const OPEN_MS_MAX = 60_000;
const RETRY_MS_FIRST = 50;
const RETRY_MS_MAX = 5_000;
/** The client gives a silent node up after twice this time. */
const HEARTBEAT_S = 10;
/** With other nodes to go to: the loss of a machine must not stop jobs for more than 10 s. */
const HEARTBEAT_OF_NODES_S = 3;
/** A message that was on its way to a queue's leader when its node was lost may never be confirmed. */
const CONFIRM_OF_NODES_MS_MAX = 8_000;
/** The client's default of 8 KiB would cut a payload into many pieces. */
const FRAME_BYTES_MAX = 128 * 1024;
const CLOSE_MS_MAX = 1_500;
const RENEWAL_MS_MIN = 1_000;

export class RabbitLink {
  /** The addresses without credentials, for display. */
  readonly address: string;
  readonly #options: RabbitOptions;
  readonly #connection: Connection;
  readonly #waiting = new Map<string, (reason: string) => void>();
  #publishing: Promise<RabbitChannel> | undefined;
  #trouble: string | undefined = 'not connected yet';
  #alarm: string | undefined;
  #isClosed = false;
  #lastMessage = 0;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #onOpening: ((failure: StartFailure | undefined) => void) | undefined;

  /** Throws a `StartFailure` when the address can never work. */
  constructor(options: RabbitOptions) {
    this.#options = options;
    this.address = options.urls.map(redactUrl).join(', ');
    this.#connection = newConnection(options);
    this.#connection.on('connection', () => this.#isUp());
    this.#connection.on('error', (error: unknown) => this.#isTroubled(error));
    this.#connection.on('connection.blocked', (reason) => this.#isBlocked(reason));
    this.#connection.on('connection.unblocked', () => {
      this.#alarm = undefined;
    });
  }

  /** Why nothing can be published or fetched now. */
  get trouble(): string | undefined {
    return this.#trouble ?? this.#alarm;
  }

  /** Rejects when no broker is reachable for 60 s, and releases everything. */
  open(): Promise<void> {
    if (this.#trouble === undefined) return Promise.resolve();
    const { clock, purpose } = this.#options;
    return new Promise((resolve, reject) => {
      const end = (failure: StartFailure | undefined): void => {
        cancel();
        this.#onOpening = undefined;
        if (failure === undefined) return resolve();
        void this.close();
        reject(failure);
      };
      this.#onOpening = end;
      const cancel = clock.after(OPEN_MS_MAX, () => {
        const text = `RabbitMQ at ${this.address} (${purpose}) cannot be used: ${this.#trouble}`;
        end(new StartFailure(75, `${text}. Tried for ${OPEN_MS_MAX / 1_000} s`));
      });
    });
  }

  /** Fails with STORAGE_UNAVAILABLE, at once while the link is away. The caller closes the channel. */
  async channel(): Promise<RabbitChannel> {
    if (this.#trouble !== undefined || this.#isClosed) throw this.#unavailable(this.#trouble ?? 'closed');
    try {
      return await RabbitChannel.open(this.#connection, this.#options.clock);
    } catch (error) {
      throw this.refusalOf(error);
    }
  }

  /** With a channel of its own, which ends with the work: messages that it fetched and did not acknowledge go back. */
  async use<T>(work: (channel: RabbitChannel) => Promise<T>): Promise<T> {
    const channel = await this.channel();
    try {
      return await work(channel);
    } catch (error) {
      throw this.refusalOf(error);
    } finally {
      await channel.close();
    }
  }

  /** Resolves when the broker has confirmed the message and routed it to a queue. */
  async publish({ exchange, routingKey, body, expiresMs }: Publication): Promise<void> {
    if (this.trouble !== undefined) throw this.#unavailable(this.trouble);
    const messageId = String(++this.#lastMessage);
    const expiration = expiresMs === undefined ? {} : { expiration: String(Math.ceil(expiresMs)) };
    const envelope = { exchange, routingKey, messageId, mandatory: true, durable: true, ...expiration };
    const given = new Promise<never>((_, reject) => {
      this.#waiting.set(messageId, (reason) => reject(this.#unavailable(reason)));
    });
    given.catch(() => {});
    const { clock, urls } = this.#options;
    const confirmMsMax = urls.length > 1 ? CONFIRM_OF_NODES_MS_MAX : ANSWER_MS_MAX;
    const cancel = clock.after(confirmMsMax, () => {
      this.#waiting.get(messageId)?.(`it did not confirm within ${confirmMsMax / 1_000} s; ${IS_UNKNOWN}`);
    });
    this.#publishing ??= this.#openPublishing();
    const publishing = this.#publishing;
    try {
      const channel = await Promise.race([publishing, given]);
      await Promise.race([channel.basicPublish(envelope, body), given]);
      // A message that no queue took is returned before it is confirmed, and the client reports that a turn later.
      await Promise.race([new Promise<void>((resolve) => clock.afterTurn(resolve)), given]);
    } catch (error) {
      if (isNegative(error)) this.#renewPublishing(publishing);
      throw this.refusalOf(error, IS_UNKNOWN);
    } finally {
      cancel();
      this.#waiting.delete(messageId);
    }
  }

  /** Closes in good order, or without it after a moment: once it is cut off, the client's promises may never settle. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await atMost(this.#options.clock, CLOSE_MS_MAX, this.#closeInOrder());
    this.#connection.unsafeDestroy();
  }

  async #closeInOrder(): Promise<void> {
    const publishing = await this.#publishing?.catch(() => undefined);
    await publishing?.close();
    if (this.#trouble === undefined) await this.#connection.close();
  }

  refusalOf(error: unknown, what = ''): Refusal {
    if (error instanceof Refusal) return error;
    if (isNegative(error)) return new Refusal('STORAGE_FULL', `RabbitMQ at ${this.address} did not take the message`);
    return this.#unavailable(what === '' ? messageOf(error) : `${messageOf(error)}; ${what}`);
  }

  /**
   * RabbitMQ 3.10 refuses everything for a queue on a channel whose first message found the node of the queue's leader
   * dead. Another channel finds the new leader.
   */
  #renewPublishing(refusing: Promise<RabbitChannel>): void {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#publishing !== refusing || nowMs - this.#renewedMs < RENEWAL_MS_MIN) return;
    this.#renewedMs = nowMs;
    this.#publishing = undefined;
    // By then all its messages are confirmed or given up.
    clock.after(ANSWER_MS_MAX, () => void refusing.then((channel) => channel.close()).catch(() => {}));
  }

  #openPublishing(): Promise<RabbitChannel> {
    const opening = this.#newPublishing(() => {
      if (this.#publishing === opening) this.#publishing = undefined;
    });
    return opening;
  }

  async #newPublishing(onEnd: () => void): Promise<RabbitChannel> {
    try {
      const channel = await this.channel();
      channel.onReturn((messageId, replyText) => {
        this.#waiting.get(messageId)?.(`no queue took the message: ${replyText}`);
      });
      channel.onClose(onEnd);
      await channel.confirmSelect();
      return channel;
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  #isUp(): void {
    const { purpose, logger, onUp } = this.#options;
    this.#trouble = undefined;
    this.#alarm = undefined;
    logger.info(`RabbitMQ is connected (${purpose})`, { address: this.address });
    this.#onOpening?.(undefined);
    onUp();
  }

  #isTroubled(error: unknown): void {
    const { purpose, logger } = this.#options;
    const reason = messageOf(error);
    // Errors of a channel come here too; its owner learns of them from its end.
    if (!this.#isClosed) logger.warn(`RabbitMQ has a problem (${purpose})`, { address: this.address, reason });
    if (isOfChannel(error)) return;
    this.#trouble = reason;
    if (!isFinal(error)) return;
    const text = `RabbitMQ at ${this.address} (${purpose}) cannot be used: ${reason}`;
    this.#onOpening?.(new StartFailure(78, text));
  }

  #isBlocked(reason: string): void {
    this.#alarm = `it takes no messages: ${reason}`;
    this.#options.logger.warn('RabbitMQ takes no messages', { address: this.address, reason });
    for (const refuse of this.#waiting.values()) refuse(`${this.#alarm}; ${IS_UNKNOWN}`);
  }

  #unavailable(reason: string): Refusal {
    return new Refusal('STORAGE_UNAVAILABLE', `RabbitMQ at ${this.address} cannot be used: ${reason}`);
  }
}

const IS_UNKNOWN = 'whether the message was kept is unknown';

function newConnection({ urls, purpose }: RabbitOptions): Connection {
  const offence = rabbitAddressesOffence(urls);
  if (offence !== undefined) throw new StartFailure(78, offence);
  return new Connection({
    // All but host and port, which the client takes from `hosts`, is the same in all of them.
    url: withCredentials(urls[0] ?? ''),
    hosts: urls.map((url) => new URL(url)).map(({ hostname, port }) => `${hostname}:${port}`),
    connectionName: `svc:${purpose}`,
    retryLow: RETRY_MS_FIRST,
    retryHigh: RETRY_MS_MAX,
    heartbeat: urls.length > 1 ? HEARTBEAT_OF_NODES_S : HEARTBEAT_S,
    frameMax: FRAME_BYTES_MAX,
  });
}

function isOfChannel(error: unknown): boolean {
  return error instanceof Error && error.name === 'AMQPChannelError';
}

/** The broker has not kept the message. */
function isNegative(error: unknown): boolean {
  return error instanceof AMQPError && error.code === 'NACK';
}

/** Wrong credentials, or a vhost that does not exist. */
function isFinal(error: unknown): boolean {
  return error instanceof AMQPError && ['ACCESS_REFUSED', 'NOT_ALLOWED', 'INVALID_PATH'].includes(error.code);
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message || error.name : String(error);
}

/** As in other clients, an address without a user means the user that every RabbitMQ has for its own machine. */
function withCredentials(url: string): string {
  const address = new URL(url);
  if (address.username !== '') return url;
  address.username = 'guest';
  address.password = 'guest';
  return address.href;
}
