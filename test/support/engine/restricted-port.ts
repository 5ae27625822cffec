// An engine with a trusted worker and a port for browsers, for tests of access.

import { ANONYMOUS } from '../../../src/core/access/access.ts';
import { SUBPROTOCOL_JSON } from '../../../src/protocol/frames/subprotocols.ts';
import type { TestWorker } from '../clients/test-worker.ts';
import type { EngineInMemory } from './engine-in-memory.ts';
import { type Dialling, type PortOptions, TestPort } from './worker-port.ts';

/** Of a client with the SDK of the engine: it is sent refusals that the wire of `iii` does not have. */
export const OWN_SDK: Dialling = { subprotocols: [SUBPROTOCOL_JSON] };

export interface RestrictedPort {
  readonly port: TestPort;
  readonly engine: EngineInMemory;
  /** A trusted worker with the auth function. */
  readonly auth: TestWorker;
  /** Connects a trusted worker. */
  readonly backend: TestWorker;
  /** Connects to the port for browsers, with the grant of the auth function. */
  browser(grant?: Readonly<Record<string, unknown>>, dialling?: Dialling): Promise<TestWorker>;
  /** The last answer of the auth function. */
  answerAuth(grant: Readonly<Record<string, unknown>>): void;
}

export interface RestrictedOptions extends Omit<PortOptions, 'config'> {
  /** Settings below `rbac`. */
  readonly rbac?: Readonly<Record<string, unknown>>;
  /** Settings next to `rbac`. */
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
