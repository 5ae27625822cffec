// The one place that knows the Redis client: connections for code that keeps data there or passes messages on. Loaded
// when a link is made: the client is some hundred files, which an engine without Redis need not read.
//
// States of a link and its transitions:
//   opening   `open` was called; retries for 60 s, then gives up for good (K3), at once if refused
//   up        commands run; ends when a connection is lost or stays silent for 5 s
//   away      every command fails at once with STORAGE_UNAVAILABLE; reconnects with backoff, for ever
//   closed    `close` was called
// Invariants:
//   - Nothing is queued while the link is away: a command fails, and its caller gets the error (K3).
//   - Subscriptions are restored with the connection. Messages published meanwhile are lost: a subscriber that must not
//     miss one compares positions, because the bus cannot.
//   - User info and query of the address appear nowhere: not in health, errors or the log (X22).

import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { Refusal } from '../core/calls/refusal.ts';
import { redactUrl } from '../core/config-fields/redaction.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { RedisScript } from './redis-script.ts';
import { StartFailure } from './start-failure.ts';

export interface RedisOptions {
  readonly url: string;
  /** The purpose of the link: shown in health, in the log and in Redis's own list of clients. */
  readonly purpose: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Sent first on every new connection. */
  readonly scripts?: readonly RedisScript[];
  /**
   * The connection of the commands is up, for the first time or after it was lost for so long. What is sent now comes
   * before all commands.
   */
  readonly onConnect?: (awayMs: number) => void;
  /** All connections of the link are up, for the first time or again. */
  readonly onUp?: () => void;
}

/** How long a broker may be unreachable at the start (K3). */
const OPEN_MS_MAX = 60_000;
const CONNECT_MS_MAX = 5_000;
/** A connection that is silent for this long, although asked every 2 s, is dead. */
const SILENCE_MS_MAX = 5_000;
const PING_INTERVAL_MS = 2_000;
const BACKOFF_MS_FIRST = 50;
const BACKOFF_MS_MAX = 5_000;

export class RedisLink {
  /** The address without credentials, for display. */
  readonly address: string;
  /** Whether the address contains credentials. */
  readonly hasPassword: boolean;
  readonly #options: RedisOptions;
  readonly #commands: Client;
  /** A connection for subscriptions is separate, so that a flood of events delays no answer. */
  #listening: Client | undefined;
  readonly #troubles = new Map<Client, string>();
  /** By the monotonic clock, when the connection of the commands was lost. */
  #lostMs: number;
  #isClosed = false;
  /** What Redis refused while the link was opening: a retry would not help. */
  #refusal: string | undefined;
  #isOpening = false;

  /** Throws a `StartFailure` when the address can never work. */
  constructor(options: RedisOptions) {
    this.#options = options;
    this.#lostMs = options.clock.monotonicMs();
    this.address = redactUrl(options.url);
    this.hasPassword = /^\w+:\/\/[^/]*:[^/]*@/.test(options.url);
    this.#commands = this.#createClient();
  }

  /** Why commands and subscriptions do not work now. */
  get trouble(): string | undefined {
    const [trouble] = this.#troubles.values();
    return trouble;
  }

  /** Connects. Rejects when no Redis is reachable for 60 s, and releases everything. */
  async open(): Promise<void> {
    await this.#connect(this.#commands);
  }

  /** Runs a command; texts come as bytes. Fails with STORAGE_UNAVAILABLE, at once while the link is away. */
  async run(args: readonly (string | Buffer)[]): Promise<unknown> {
    try {
      return await this.#send(args);
    } catch (error) {
      throw this.#refusalOf(error, String(args[0]));
    }
  }

  /** Runs a script atomically. Commands that are sent one after another take effect in that order. */
  async runScript(
    { sha1, text }: RedisScript,
    keys: readonly (string | Buffer)[],
    args: readonly (string | Buffer)[],
  ): Promise<unknown> {
    const operands = [String(keys.length), ...keys, ...args];
    try {
      return await this.#send(['EVALSHA', sha1, ...operands]);
    } catch (error) {
      if (!isUnknownScript(error)) throw this.#refusalOf(error, 'the change');
      return await this.run(['EVAL', text, ...operands]);
    }
  }

  /** Connects what subscriptions need, as `open` does. */
  async listen(): Promise<void> {
    if (this.#listening !== undefined) return;
    this.#listening = this.#createClient();
    await this.#connect(this.#listening);
  }

  /** Passes every message of the channel to the listener, from now on and after every reconnection. */
  async subscribe(channel: string, listener: (message: Buffer) => void): Promise<void> {
    await this.listen();
    const listening = this.#listening;
    if (!listening?.isReady) throw this.#unavailable('not connected');
    try {
      await listening.subscribe(channel, listener, true);
    } catch (error) {
      throw this.#refusalOf(error, 'the subscription');
    }
  }

  async unsubscribe(channel: string, listener: (message: Buffer) => void): Promise<void> {
    try {
      await this.#listening?.unsubscribe(channel, listener, true);
    } catch (error) {
      throw this.#refusalOf(error, 'the end of a subscription');
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const client of [this.#commands, this.#listening]) if (client?.isOpen) client.destroy();
  }

  #send(args: readonly (string | Buffer)[]): Promise<unknown> {
    if (!this.#commands.isReady) throw this.#unavailable(this.#troubles.get(this.#commands) ?? 'not connected');
    return this.#commands.sendCommand([...args], { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } });
  }

  #createClient(): Client {
    const { url, purpose, logger } = this.#options;
    const client = newClient(url, purpose, (retries, cause) => {
      if (!this.#isOpening || !isFinal(cause)) return backoff(retries);
      this.#refusal = cause.message;
      return false;
    });
    this.#troubles.set(client, 'not connected yet');
    client.on('error', (error: unknown) => {
      const reason = messageOf(error);
      const isNews = this.#troubles.get(client) !== reason;
      if (client === this.#commands && !this.#troubles.has(client)) this.#lostMs = this.#options.clock.monotonicMs();
      this.#troubles.set(client, reason);
      if (isNews && !this.#isClosed) logger.warn(`Redis is away (${purpose})`, { address: this.address, reason });
    });
    client.on('ready', () => this.#isUp(client));
    return client;
  }

  #isUp(client: Client): void {
    const { purpose, clock, logger, scripts = [], onConnect, onUp } = this.#options;
    this.#troubles.delete(client);
    logger.info(`Redis is connected (${purpose})`, { address: this.address });
    if (client === this.#commands) {
      // If it fails here, the first use of the script loads it.
      for (const { text } of scripts) client.sendCommand(['SCRIPT', 'LOAD', text]).catch(() => {});
      onConnect?.(clock.monotonicMs() - this.#lostMs);
    }
    if (this.trouble === undefined) onUp?.();
  }

  async #connect(client: Client): Promise<void> {
    const { clock, purpose } = this.#options;
    let isLate = false;
    this.#isOpening = true;
    const cancel = clock.after(OPEN_MS_MAX, () => {
      isLate = true;
      this.close();
    });
    try {
      await client.connect();
    } catch (error) {
      const reason = this.#troubles.get(client) ?? messageOf(error);
      this.close();
      const text = `Redis at ${this.address} (${purpose}) cannot be used: ${this.#refusal ?? reason}`;
      const exitCode = this.#refusal === undefined ? 75 : 78;
      throw new StartFailure(exitCode, isLate ? `${text}. Tried for ${OPEN_MS_MAX / 1000} s` : text);
    } finally {
      this.#isOpening = false;
      cancel();
    }
  }

  /** `what` may or may not have happened when the connection broke meanwhile. */
  #refusalOf(error: unknown, what: string): Refusal {
    if (error instanceof Refusal) return error;
    if (!(error instanceof ErrorReply)) {
      return this.#unavailable(`${messageOf(error)}; whether ${what} took effect is unknown`);
    }
    if (!error.message.startsWith('OOM ')) return this.#unavailable(`it answered: ${error.message}`);
    return new Refusal('STORAGE_FULL', `Redis at ${this.address} is full: it refuses commands that need memory`);
  }

  #unavailable(reason: string): Refusal {
    return new Refusal('STORAGE_UNAVAILABLE', `Redis at ${this.address} cannot be used: ${reason}`);
  }
}

type Client = ReturnType<typeof newClient>;

function newClient(url: string, purpose: string, reconnectStrategy: (retries: number, cause: Error) => number | false) {
  try {
    return createClient({
      url,
      name: `svc:${purpose}`,
      disableOfflineQueue: true,
      pingInterval: PING_INTERVAL_MS,
      socket: { connectTimeout: CONNECT_MS_MAX, socketTimeout: SILENCE_MS_MAX, reconnectStrategy },
    });
  } catch {
    // The client's messages quote the address, including the password.
    throw new StartFailure(
      78,
      `'${redactUrl(url)}' is not an address of Redis: redis://host:port or rediss://host:port`,
    );
  }
}

/**
 * Wrong credentials, or a database that does not exist. A Redis that is still loading its data only needs more time.
 */
function isFinal(cause: Error): boolean {
  return cause instanceof ErrorReply && !/^(LOADING|MASTERDOWN|CLUSTERDOWN|BUSY)/.test(cause.message);
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.startsWith('NOSCRIPT');
}

/** Random jitter, so that engines that lost the same Redis do not all reconnect at the same moment. */
function backoff(retries: number): number {
  const full = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_FIRST * 2 ** Math.min(retries, 10));
  return full * (0.75 + Math.random() / 4);
}

/** The failure of several addresses of one host has no text of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message || error.name : String(error);
}
