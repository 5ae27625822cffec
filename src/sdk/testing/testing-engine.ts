// The interface of the engine inside the process, for `createFake`. The engine is `src/testing-engine`, bundled.

import type { PlatformSocket, SocketEvents, SocketRequest } from '../worker/platform.ts';
import type { VirtualClock } from './testing-clock.ts';

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
