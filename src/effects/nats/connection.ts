// The one place that knows NATS: the connection of an engine, its subjects, and buckets of JetStream. Loaded where the
// configuration names `cluster`.
//
// States of the connection and its transitions:
//   opening   `open` was called; retries for 60 s, then gives up for good (K3), at once if NATS refuses
//   up        messages pass; ends when the connection is lost, or two pings have no answer
//   away      nothing is sent; reconnects for ever
//   closed    `close` was called
// Invariant: while the connection is away, nothing is queued: a change fails, and messages are not sent.

import { readFileSync } from 'node:fs';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import {
  AuthorizationError,
  type NatsConnection as Client,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  NoRespondersError,
  PermissionViolationError,
} from '@nats-io/transport-node';
import { redactUrl } from '../../core/config-fields/redaction.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { StartFailure } from '../start-failure.ts';
import { Bucket } from './bucket.ts';

export interface NatsOptions {
  readonly servers: readonly string[];
  readonly credsFile?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Files in PEM. Present: the connection is encrypted. */
  readonly tls?: TlsFiles | undefined;
  /** Of all answers to requests: who may subscribe there reads them. */
  readonly inboxPrefix: string;
  readonly name: string;
  /** How long it may take to reach NATS; 60 s if absent (K3). */
  readonly openMsMax?: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface TlsFiles {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}

/** How long NATS may be unreachable, or without a leader of JetStream, at the start (K3). */
const OPEN_MS_MAX = 60_000;
const OPEN_RETRY_MS = 500;
const CONNECT_MS_MAX = 5_000;
/** A request to a leader that was killed has no answer: it is sent again to the next one. */
const ANSWER_MS_MAX = 2_000;
const PING_INTERVAL_MS = 1_000;
const PINGS_UNANSWERED_MAX = 2;
const RECONNECT_MS = 250;
const REPLICAS = 3;

export class NatsConnection {
  /** Without credentials. */
  readonly address: string;
  readonly #client: Client;
  readonly #manager: JetStreamManager;
  readonly #options: NatsOptions;
  readonly #listeners = new Set<() => void>();
  #trouble: string | undefined;
  #isClosed = false;

  private constructor(options: NatsOptions, client: Client, manager: JetStreamManager) {
    this.#options = options;
    this.#client = client;
    this.#manager = manager;
    this.address = addressOf(options.servers);
    void this.#watchStatus();
  }

  /** Connects. Rejects with a `StartFailure` when NATS refuses, or cannot be reached for 60 s. */
  static async open(options: NatsOptions): Promise<NatsConnection> {
    const create = (client: Client, manager: JetStreamManager) => new NatsConnection(options, client, manager);
    return await tryFor(options, `NATS at ${addressOf(options.servers)} cannot be used`, () =>
      openOnce(options, create),
    );
  }

  /** Why nothing can be sent now. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  get messageBytesMax(): number {
    return this.#client.info?.max_payload ?? 0;
  }

  /** Whether several servers keep the buckets. */
  get isClustered(): boolean {
    return this.#client.info?.cluster !== undefined;
  }

  /** Called when the connection was lost or is back. Returns a function that ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(subject: string, bytes: Uint8Array): void {
    this.#client.publish(subject, bytes);
  }

  /** Rejects without an answer in time; at once where no client subscribes to the subject. */
  async ask(subject: string, bytes: Uint8Array, timeoutMs: number): Promise<Buffer> {
    return bufferOf((await this.#client.request(subject, bytes, { timeout: timeoutMs })).data);
  }

  /** Whether a question failed because no client subscribes to its subject. */
  isWithoutReceiver(error: unknown): boolean {
    return isWithoutReceiver(error);
  }

  /** Returns a function that ends it. */
  subscribe(
    subject: string,
    take: (subject: string, bytes: Buffer, respond: ((bytes: Buffer) => void) | undefined) => void,
  ): () => void {
    const subscription = this.#client.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) {
          take(message.subject, bufferOf(message.data), message.reply ? (bytes) => message.respond(bytes) : undefined);
        } else this.#options.logger.error('NATS refused a subscription', { subject, reason: error.message });
      },
    });
    return () => subscription.unsubscribe();
  }

  /**
   * Opens the bucket, and creates it where it does not exist. Three servers keep it where NATS is a cluster.
   * `lifetimeMs`: of each value; absent: it has none. Rejects with a `StartFailure` when that was impossible for 60 s,
   * such as without a leader or with too few servers.
   */
  async bucket(name: string, lifetimeMs?: number): Promise<Bucket> {
    const { kv, replicas } = await this.retry(`NATS cannot keep the bucket ${name}`, async () => {
      const opened = await new Kvm(jetstream(this.#client, { timeout: ANSWER_MS_MAX })).create(name, {
        history: 1,
        replicas: this.isClustered ? REPLICAS : 1,
        // What rests on a value follows the watch, which delivers in the order of the leader.
        allow_direct: false,
        ...(lifetimeMs !== undefined && { ttl: lifetimeMs }),
      });
      return { kv: opened, replicas: (await opened.status()).replicas };
    });
    const { clock, logger } = this.#options;
    const trouble = (): string | undefined => this.#trouble;
    return new Bucket({ name, kv, manager: this.#manager, replicas, clock, logger, trouble });
  }

  /** Repeats what fails until it succeeds; rejects with a `StartFailure` after 60 s, or where NATS refuses. */
  retry<T>(what: string, attempt: () => Promise<T>): Promise<T> {
    return tryFor(this.#options, what, attempt, this.#client);
  }

  /** Whether the bucket survives the loss of one server, as far as that is possible here. */
  isReplicated({ replicas }: Pick<Bucket, 'replicas'>): boolean {
    return !this.isClustered || replicas >= REPLICAS;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  async #watchStatus(): Promise<void> {
    const { logger } = this.#options;
    for await (const status of this.#client.status()) {
      if (this.#isClosed) return;
      if (status.type === 'disconnect') this.#changed('the connection was lost');
      else if (status.type === 'reconnect') this.#changed(undefined);
      else if (status.type === 'error') logger.error('NATS reports an error', { reason: status.error.message });
    }
  }

  #changed(trouble: string | undefined): void {
    if (trouble === this.#trouble) return;
    const { logger } = this.#options;
    this.#trouble = trouble;
    if (trouble === undefined) logger.info('NATS is connected again', { address: this.address });
    else logger.warn('NATS is away: other engines cannot be reached', { address: this.address, reason: trouble });
    for (const listener of this.#listeners) listener();
  }
}

/** Repeats what fails until it succeeds, for 60 s. A refusal that no attempt would change is final. */
async function tryFor<T>(
  { clock, openMsMax = OPEN_MS_MAX }: Pick<NatsOptions, 'clock' | 'openMsMax'>,
  what: string,
  attempt: () => Promise<T>,
  client?: Client,
): Promise<T> {
  const endMs = clock.monotonicMs() + openMsMax;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof StartFailure) throw error;
      const refusal = refusalOf(error, client);
      if (refusal !== undefined) throw new StartFailure(78, `${what}: ${refusal}`);
      if (clock.monotonicMs() >= endMs) {
        throw new StartFailure(75, `${what}: ${messageOf(error)}. Tried for ${openMsMax / 1000} s`);
      }
    }
    await pause(clock);
  }
}

/** Nothing else keeps the process of an engine alive that waits for NATS. */
function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.every(
      OPEN_RETRY_MS,
      () => {
        cancel();
        resolve();
      },
      { keepsProcessAlive: true },
    );
  });
}

async function openOnce(
  options: NatsOptions,
  create: (client: Client, manager: JetStreamManager) => NatsConnection,
): Promise<NatsConnection> {
  const address = addressOf(options.servers);
  let client: Client | undefined;
  try {
    client = await connect(connectionOptions(options));
    const manager = await jetstreamManager(client, { checkAPI: true, timeout: ANSWER_MS_MAX });
    return create(client, manager);
  } catch (error) {
    await client?.close();
    const refusal = refusalOf(error, client);
    if (refusal === undefined) throw error;
    throw new StartFailure(78, `NATS at ${address} cannot be used: ${refusal}`);
  }
}

function connectionOptions(options: NatsOptions): ConnectionOptions {
  const { servers, credsFile, user, password, tls, inboxPrefix, name } = options;
  return {
    servers: [...servers],
    name,
    inboxPrefix,
    timeout: CONNECT_MS_MAX,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: PINGS_UNANSWERED_MAX,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    // The client would make two errors for each request, a fifth of the time that a registration costs.
    noAsyncTraces: true,
    // The credentials can be renewed in the file while the engine runs.
    ...(credsFile !== undefined && { authenticator: credsAuthenticator(() => readCredentials(credsFile)) }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { pass: password }),
    ...(tls !== undefined && { tls: Object.fromEntries(Object.entries(tls).filter(([, file]) => file !== undefined)) }),
  };
}

function readCredentials(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new StartFailure(78, `cluster.nats.creds_file cannot be read: ${messageOf(error)}`);
  }
}

/** What no new attempt would change; `undefined`: it may. */
function refusalOf(error: unknown, client: Client | undefined): string | undefined {
  if (error instanceof AuthorizationError) return 'the credentials are wrong. Check user, password or creds_file';
  const violation = error instanceof Error && !isViolation(error) ? error.cause : error;
  if (isViolation(violation)) {
    return `a permission is missing: ${violation.message}. docs/operations/cluster.md lists the subjects`;
  }
  if (client !== undefined && error instanceof Error && error.name === 'JetStreamNotEnabled') {
    // A server that has just started says that it has JetStream before it answers for it.
    if (isWithoutReceiver(error.cause) && client.info?.jetstream === true) return undefined;
    return 'JetStream is off for this account. Start the server with -js, or enable JetStream for the account';
  }
  return undefined;
}

function isWithoutReceiver(error: unknown): boolean {
  return error instanceof NoRespondersError || (error instanceof Error && error.cause instanceof NoRespondersError);
}

function isViolation(error: unknown): error is PermissionViolationError {
  return error instanceof PermissionViolationError;
}

function addressOf(servers: readonly string[]): string {
  return servers.map(redactUrl).join(', ');
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
