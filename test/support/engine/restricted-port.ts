// An engine with a trusted worker and a port for browsers, as most tests of access want it.

import { ANONYMOUS } from '../../../src/core/access/access.ts';
import { SUBPROTOCOL_JSON } from '../../../src/protocol/frames/subprotocols.ts';
import type { TestWorker } from '../clients/test-worker.ts';
import type { EngineInMemory } from './engine-in-memory.ts';
import { type Dialling, type PortOptions, TestPort } from './worker-port.ts';

/** Of a client that is our own SDK: it is told more than the wire of the peer has words for. */
export const OWN_SDK: Dialling = { subprotocols: [SUBPROTOCOL_JSON] };

export interface RestrictedPort {
  readonly port: TestPort;
  readonly engine: EngineInMemory;
  /** Trusted: it offers the auth function. */
  readonly auth: TestWorker;
  /** Trusted. */
  readonly backend: TestWorker;
  /** Somebody connects to the port for browsers, and gets what the auth function answers. */
  browser(grant?: Readonly<Record<string, unknown>>, dialling?: Dialling): Promise<TestWorker>;
  /** What the auth function says of whom it was asked about last. */
  answerAuth(grant: Readonly<Record<string, unknown>>): void;
}

export interface RestrictedOptions extends Omit<PortOptions, 'config'> {
  /** Below `rbac`. */
  readonly rbac?: Readonly<Record<string, unknown>>;
  /** Beside `rbac`. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export async function openRestricted({ rbac, config, ...options }: RestrictedOptions = {}): Promise<RestrictedPort> {
  const port = await TestPort.open({ ...options, config: { ...config, rbac: { auth_function_id: 'auth', ...rbac } } });
  const [auth, backend] = [port.engine.connect(), port.engine.connect()];
  auth.register('auth');
  return {
    port,
    engine: port.engine,
    auth,
    backend,
    async browser(grant = { context: ANONYMOUS.context }, dialling = {}) {
      const worker = port.worker(dialling);
      auth.result(auth.nextCall(), grant);
      return await worker;
    },
    answerAuth: (grant) => auth.result(auth.nextCall(), grant),
  };
}
