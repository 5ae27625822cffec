// How the engine becomes one of several that act as one, where the configuration names `cluster`.

import { networkInterfaces } from 'node:os';
import type { Cluster } from '../cluster/cluster.ts';
import type { RoutersOfProcess } from '../cluster/identity.ts';
import { reachableAddress } from '../cluster/reachable-address.ts';
import { natsOf } from '../config/cluster-settings.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { SharedConfiguration } from '../core/cluster/shared-configuration.ts';
import type { RouterContext } from '../router/context.ts';
import type { ModuleSet } from './module-set.ts';

/** Resolves when the engine is a member and knows the others; at once where the configuration names no cluster. */
export async function joinCluster(
  { cluster }: LoadedConfig['settings'],
  shared: (() => SharedConfiguration) | undefined,
  context: RouterContext,
  version: string,
  routers?: RoutersOfProcess,
): Promise<Cluster | undefined> {
  if (cluster === undefined) return undefined;
  // The client of NATS is loaded only here.
  const { Cluster: Joined } = await import('../cluster/cluster.ts');
  const { prefix, zone } = cluster;
  return Joined.start({ context, nats: natsOf(cluster), prefix, zone, version, shared, routers });
}

/**
 * Announces the drain. The result: whether other engines reach all functions of this engine's workers; `undefined`:
 * there are no other engines.
 */
export function beginMoves(cluster: Cluster | undefined, { functions }: RouterContext): (() => boolean) | undefined {
  cluster?.announceDraining();
  if (cluster?.hasOthers !== true) return undefined;
  return () => {
    if (!cluster.hasOthers) return true;
    for (const entry of functions.all()) {
      if (entry.kind !== 'worker' || entry.executors.every(({ access }) => access !== undefined)) continue;
      const isElsewhere = ({ engine, trust }: (typeof entry.remotes)[number]) =>
        trust === 'trusted' && !engine.isRouter && engine.isUp && !engine.isDraining;
      if (!entry.remotes.some(isElsewhere)) return false;
    }
    return true;
  };
}

/** Starts the modules, and reports the address of their port for workers to the other engines. */
export async function startInCluster(
  cluster: Cluster | undefined,
  modules: ModuleSet,
  start: () => Promise<void>,
): Promise<void> {
  try {
    await start();
  } catch (error) {
    await cluster?.close();
    throw error;
  }
  const listeners = modules.listeners();
  const first = listeners.find(({ name }) => name === 'workers') ?? listeners[0];
  if (first !== undefined) cluster?.announceAddress(reachableAddress(first.address, networkInterfaces()));
}
