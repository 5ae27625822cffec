// Which modules of the configuration run on every router. The others run on the first one.

import { type LoadedConfig, modulesOf } from '../../config/load.ts';
import type { TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import { otelDeclaration } from '../../modules/observability/config.ts';
import { resolveTelemetry } from '../../modules/observability/settings.ts';
import { workerManagerDeclaration } from '../../modules/worker-manager/config.ts';
import type { RouterModule } from './thread-messages.ts';

/** Ports of workers. Those with `rbac` listen on the first router alone. */
export function modulesOfRouters(config: LoadedConfig): RouterModule[] {
  return modulesOf(config, workerManagerDeclaration)
    .filter(({ config: port }) => port.rbac === undefined)
    .map(({ name, config: port }) => ({ name, config: port }));
}

/** All routers observe by the same rules. */
export function telemetryOf(config: LoadedConfig, environment: NodeJS.ProcessEnv): TelemetrySettings {
  const [entry] = modulesOf(config, otelDeclaration);
  if (entry === undefined) throw new Error('The module svc-observability always runs');
  return resolveTelemetry(entry.config, environment, config.settings.compat === 'iii');
}

/** Whether further routers use its entry, too. */
export function runsOnAllRouters({ name, config }: { readonly name: string; readonly config: unknown }): boolean {
  if (name === otelDeclaration.name) return true;
  const isPort = name === workerManagerDeclaration.name && typeof config === 'object' && config !== null;
  return isPort && !('rbac' in config && config.rbac !== undefined);
}
