// The engines that act as one with this one.

import { assertTrusted, type BuiltinDefinition } from '../../router/builtin.ts';
import type { ModuleContext, ModuleHealth } from '../module.ts';
import type { EngineAnswers } from './answers.ts';

export function clusterStatus({ cluster }: ModuleContext): BuiltinDefinition {
  const id = 'engine::cluster::status';
  return {
    id,
    description: 'Lists the engines of the cluster, as this one sees them; empty without a cluster',
    handle(_payload, call): EngineAnswers[typeof id] {
      assertTrusted(id, call);
      return cluster?.status() ?? { engines: [] };
    },
  };
}

/** Its own workers are served without the other engines, too. */
export function clusterHealth({ cluster, router }: Pick<ModuleContext, 'cluster' | 'router'>): ModuleHealth {
  if (cluster === undefined) return { status: 'healthy' };
  // Each router of the process has its own connection to NATS.
  const trouble = cluster.trouble ?? router.routers.find((one) => one.clusterTrouble !== undefined)?.clusterTrouble;
  const details = {
    cluster: { engines: cluster.status().engines.length },
    ...(trouble !== undefined && { reason: trouble }),
  };
  return { status: trouble === undefined ? 'healthy' : 'degraded', details };
}
