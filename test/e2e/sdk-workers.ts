// Workers of svc-sdk for the tests of one file. They log nothing, and each test ends with their shutdown.

import { afterEach } from 'vitest';
import { registerWorker, type SvcWorker, type WorkerOptions } from '../../src/sdk/index.ts';
import { IS_PAIRED, Pair } from '../support/cluster/paired-engines.ts';

export type Connect = (url: string | undefined, options?: WorkerOptions) => SvcWorker;

/** To be called at the top of a test file. */
export function sdkWorkers(): Connect {
  const workers: SvcWorker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((svc) => svc.shutdown()));
  });
  return (url, options) => {
    const svc = registerWorker(url, { handle_signals: false, drain_timeout_ms: 100, log: () => {}, ...options });
    workers.push(svc);
    return IS_PAIRED ? agreeing(svc) : svc;
  };
}

/** What is ready is known to both engines. */
function agreeing(svc: SvcWorker): SvcWorker {
  for (const name of ['registerFunction', 'registerTrigger', 'registerTriggerType'] as const) {
    const register: (...given: never[]) => { ready(): Promise<void> } = svc[name].bind(svc);
    Object.assign(svc, {
      [name]: (...given: never[]) => {
        const handle = register(...given);
        const ready = handle.ready.bind(handle);
        return Object.assign(handle, { ready: () => ready().then(() => Pair.allAgree()) });
      },
    });
  }
  return svc;
}

/** The configuration of an engine with one port and state in memory. */
export const STATE_IN_MEMORY = `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-state
    config: {adapter: {name: kv, config: {store_method: in_memory}}}
`;
