// `createFake`: an engine and its workers inside one process, for fast tests that control the time (SDK-11).
//
// No part of the engine is imitated: the workers are those of this SDK, and the engine is its own code on stand-ins for
// sockets, threads and time (`src/testing-engine`), which is bundled with the package.

import { createWorker, type InternalOptions, nodePlatform } from '../internal.ts';
import type { IncomingCall, OutgoingCall } from '../worker/handler.ts';
import type { WorkerOptions } from '../worker/options.ts';
import type { Platform, PlatformSocket, SocketEvents, SocketRequest } from '../worker/platform.ts';
import type { SvcWorker } from '../worker/svc-worker.ts';
import { VirtualClock } from './testing-clock.ts';

/**
 * Options of `createFake`.
 *
 * @example
 * import { createFake, type FakeOptions } from 'svc-sdk/testing';
 *
 * const options: FakeOptions = { now: new Date('2026-01-01T00:00:00Z'), queues: { mail: { max_retries: 1 } } };
 * const fake = await createFake(options);
 * await fake.stop();
 */
export interface FakeOptions {
  /** Queues in addition to `default`: by name, with the fields of `queue_configs`. */
  readonly queues?: Readonly<Record<string, object>>;
  /** Text of a whole configuration, in place of the one with every module in memory. */
  readonly config?: string;
  /** The initial time of its clock; by default the current time. */
  readonly now?: Date;
  /** Receives the warnings of the engine; by default they are dropped. */
  readonly log?: (line: string) => void;
}

/**
 * A call that a worker of a fake made, or that one of its handlers received.
 *
 * @example
 * import { createFake, type RecordedCall } from 'svc-sdk/testing';
 *
 * const fake = await createFake();
 * const mails = (calls: readonly RecordedCall[]) => calls.filter((call) => call.function_id === 'mail::send');
 * console.log(mails(fake.calls).length);
 * await fake.stop();
 */
export interface RecordedCall {
  /** Name of the worker. */
  readonly worker: string;
  readonly direction: 'outgoing' | 'incoming';
  readonly function_id: string;
  readonly payload: unknown;
  /** The delivery: `void`, or `enqueue` and its queue. Only for outgoing calls. */
  readonly action?: OutgoingCall['action'];
  /** A result or an error, once there is one. */
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * An engine inside the process of a test. Its clock does not move until `advance`.
 *
 * @example
 * import { createFake, type Fake } from 'svc-sdk/testing';
 *
 * const fake: Fake = await createFake({ queues: { mail: { max_retries: 3, backoff_ms: 60_000 } } });
 * const svc = fake.registerWorker();
 * let attempts = 0;
 * svc.registerFunction('mail::send', () => {
 *   attempts += 1;
 *   if (attempts === 1) throw new Error('The mail server does not answer');
 * });
 * await svc.queue('mail').enqueue('mail::send', { to: 'ann@example.org' });
 * await fake.advance(60_000);
 * console.log(attempts); // 2
 * await fake.stop();
 */
export interface Fake {
  /** Creates a worker of this engine, with the interface of any other. */
  registerWorker(options?: Omit<WorkerOptions, 'handle_signals'>): SvcWorker;
  /** All calls of its workers, in order. */
  readonly calls: readonly RecordedCall[];
  /** The time of its clock. */
  readonly now: Date;
  /** Moves the time by `ms` plus 50 ms, and runs everything that falls due: retries, schedules, deadlines. */
  advance(ms: number): Promise<void>;
  /** Resolves when all work that is due has been done. 50 ms pass. */
  settle(): Promise<void>;
  /** Sends a request to a route and returns the answer of the HTTP trigger. */
  request(request: FakeRequest): Promise<FakeResponse>;
  /** Ends workers and engine. */
  stop(): Promise<void>;
}

/**
 * Creates an engine inside this process, with HTTP, state, streams, queues, events and cron, all in memory. Handlers
 * run as with a real engine; only the time is controlled by the test.
 *
 * @example
 * import { createFake } from 'svc-sdk/testing';
 *
 * const fake = await createFake();
 * const svc = fake.registerWorker({ worker_name: 'counter' });
 * svc.registerFunction('carts::add', async ({ sku }: { sku: string }) => {
 *   await svc.state.update('carts', 'ann', { type: 'append', path: 'items', value: sku });
 * });
 * await svc.trigger({ function_id: 'carts::add', payload: { sku: 'a1' } });
 * console.log(await svc.state.get('carts', 'ann')); // { items: ['a1'] }
 * await fake.stop();
 */
export async function createFake(options: FakeOptions = {}): Promise<Fake> {
  const clock = new VirtualClock((options.now ?? new Date()).getTime());
  const engine = await startEngineInside({
    clock,
    config:
      options.config ?? testConfiguration(options.queues, { workers: WORKERS_PORT, http: 80, streams: STREAMS_PORT }),
    log: options.log ?? (() => {}),
  });
  const platform: Platform = {
    ...nodePlatform,
    clock,
    openSocket: (request, events) => engine.dial(request, events),
    signals: undefined,
    writeLog: (level, message) => options.log?.(`svc-sdk ${level}: ${message}`),
  };
  const calls: RecordedCall[] = [];
  const workers: SvcWorker[] = [];
  const isBusy = (): boolean => engine.openCalls > 0;
  return {
    calls,
    get now() {
      return new Date(clock.nowMs());
    },
    registerWorker(wanted = {}) {
      const internal: InternalOptions = { drain_timeout_ms: 0, ...wanted, handle_signals: false };
      const worker = createWorker(`ws://127.0.0.1:${WORKERS_PORT}`, internal, platform);
      worker.use((call, next) => record(calls, worker.name, call, next));
      workers.push(worker);
      return worker;
    },
    advance: (ms) => clock.advance(ms, isBusy),
    settle: () => clock.advance(0, isBusy),
    request: (request) => engine.request(request),
    async stop() {
      await Promise.all(workers.map((worker) => worker.shutdown()));
      await engine.stop();
    },
  };
}

const WORKERS_PORT = 49134;
/** The default port of streams. */
const STREAMS_PORT = 3112;

async function record(
  calls: RecordedCall[],
  worker: string,
  call: IncomingCall | OutgoingCall,
  next: () => Promise<unknown>,
): Promise<unknown> {
  const { direction, function_id, payload } = call;
  const entry: { -readonly [K in keyof RecordedCall]: RecordedCall[K] } = { worker, direction, function_id, payload };
  if (call.direction === 'outgoing' && call.action !== undefined) entry.action = call.action;
  calls.push(entry);
  try {
    const result = await next();
    entry.result = result;
    return result;
  } catch (error) {
    entry.error = error;
    throw error;
  }
}

/** In the package it is bundled next to this file; in the repository it runs from source. */
async function startEngineInside(options: EngineInsideOptions): Promise<EngineInside> {
  const isSource = import.meta.url.endsWith('.ts');
  const location = new URL(isSource ? '../../testing-engine/index.ts' : '../testing-engine.bundle.js', import.meta.url);
  const program: { startEngineInside(options: EngineInsideOptions): Promise<EngineInside> } = await import(
    location.href
  );
  return await program.startEngineInside(options);
}

export interface EngineInsideOptions {
  readonly clock: VirtualClock;
  /** Text of a whole configuration. */
  readonly config: string;
  /** Takes a line for the developer. */
  readonly log: (line: string) => void;
}

export interface EngineInside {
  /** As `Platform.openSocket`. */
  dial(request: SocketRequest, events: SocketEvents): PlatformSocket;
  request(request: FakeRequest): Promise<FakeResponse>;
  /** Calls that wait for their answer. */
  readonly openCalls: number;
  stop(): Promise<void>;
}

/**
 * A request to a route of a fake.
 *
 * @example
 * import { createFake, type FakeRequest } from 'svc-sdk/testing';
 *
 * const fake = await createFake();
 * const order: FakeRequest = { method: 'POST', path: '/orders', body: { sku: 'a1' } };
 * const { status } = await fake.request(order);
 * console.log(status);
 * await fake.stop();
 */
export interface FakeRequest {
  readonly method?: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
}

/**
 * The answer to a request.
 *
 * @example
 * import { createFake, type FakeResponse } from 'svc-sdk/testing';
 *
 * const fake = await createFake();
 * const page: FakeResponse = await fake.request({ path: '/' });
 * console.log(page.status, page.headers['content-type'], page.body);
 * await fake.stop();
 */
export interface FakeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface TestPorts {
  readonly workers: number;
  readonly http: number;
  readonly streams: number;
}

/** 0 selects any free port. */
const FREE_PORTS: TestPorts = { workers: 0, http: 0, streams: 0 };

/** The configuration of an engine for a test: every module, all in memory. JSON is valid YAML. */
export function testConfiguration(
  queues: Readonly<Record<string, object>> | undefined,
  ports: TestPorts = FREE_PORTS,
): string {
  const kv = { adapter: { name: 'kv', config: { store_method: 'in_memory' } } };
  const host = '127.0.0.1';
  return JSON.stringify({
    threads: 1,
    workers: [
      { name: 'svc-worker-manager', config: { host, port: ports.workers } },
      { name: 'svc-http', config: { host, port: ports.http } },
      { name: 'svc-state', config: kv },
      { name: 'svc-stream', config: { host, port: ports.streams, ...kv } },
      {
        name: 'svc-queue',
        config: {
          queue_configs: { default: {}, ...queues },
          adapter: { name: 'builtin', config: { store_method: 'in_memory' } },
        },
      },
      { name: 'svc-pubsub' },
      { name: 'svc-cron', config: kv },
    ],
  });
}
