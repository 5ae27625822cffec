// Engines of one cluster as processes, and what a test asks of them.

import type { ClusterStatus } from '../../../src/core/cluster/status.ts';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import { EngineProcess } from '../engine/engine-process.ts';
import { waitFor } from '../wait-for.ts';

export interface ClusterEngineOptions {
  readonly nats: string;
  readonly prefix?: string;
  readonly zone?: string;
  /** Further lines of the configuration. */
  readonly more?: string;
  /** Further entries below `workers`, two spaces deep. */
  readonly workers?: string;
}

export function clusterYaml({ nats, prefix = 'svc', zone, more = '', workers = '' }: ClusterEngineOptions): string {
  const place = zone === undefined ? '' : `, zone: ${zone}`;
  return `drain_timeout_ms: 2000
cluster: {nats: {servers: ['${nats}']}, prefix: ${prefix}${place}}
${more}
workers:
  - name: svc-worker-manager
    config: {port: 0}
${workers}`;
}

/** Starts an engine of the cluster. */
export async function startClusterEngine(options: ClusterEngineOptions): Promise<EngineProcess> {
  return await EngineProcess.start(clusterYaml(options));
}

/** As the engine of that worker sees it. */
export async function statusOf(worker: SvcWorker): Promise<ClusterStatus> {
  return await worker.trigger('engine::cluster::status', {});
}

/** Waits until the engine of that worker can hand calls to so many others. */
export async function waitForEngines(worker: SvcWorker, others: number): Promise<void> {
  await waitFor(
    `${others} other engines are up`,
    async () => (await statusOf(worker)).engines.filter(({ status }) => status === 'up').length === others,
    15_000,
  );
}

/** Waits until the engine of that worker lists the function. */
export async function waitForFunction(worker: SvcWorker, functionId: string): Promise<void> {
  await waitFor(`the engine lists ${functionId}`, async () => await lists(worker, functionId), 15_000);
}

/** Waits until the engine of that worker lists the function no longer. */
export async function waitForNoFunction(worker: SvcWorker, functionId: string): Promise<void> {
  await waitFor(`the engine no longer lists ${functionId}`, async () => !(await lists(worker, functionId)), 15_000);
}

async function lists(worker: SvcWorker, functionId: string): Promise<boolean> {
  const { functions } = await worker.trigger<unknown, { functions: { function_id: string }[] }>({
    function_id: 'engine::functions::list',
  });
  return functions.some(({ function_id: id }) => id === functionId);
}

/** Waits until the engine of that worker lists so many triggers of workers, its own and those of other engines. */
export async function waitForTriggers(worker: SvcWorker, count: number): Promise<void> {
  await waitFor(
    `the engine lists ${count} triggers`,
    async () => {
      const { registered_triggers: triggers } = await worker.trigger<unknown, { registered_triggers: unknown[] }>({
        ...{ function_id: 'engine::registered-triggers::list', payload: {} },
      });
      return triggers.length === count;
    },
    15_000,
  );
}

/** The code with which the call fails, or `answered`. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => 'answered',
    (error: unknown) => (error instanceof Object && 'code' in error ? String(error.code) : String(error)),
  );
}
