// Which modules of the configuration run on every router. The others run on the first one.

import type { ModuleKey } from '../../config/changes.ts';
import { type LoadedConfig, modulesOf } from '../../config/load.ts';
import type { TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import { httpDeclaration } from '../../modules/http/config.ts';
import type { ListenerAddress } from '../../modules/module.ts';
import { otelDeclaration } from '../../modules/observability/config.ts';
import { resolveTelemetry } from '../../modules/observability/settings.ts';
import { streamDeclaration } from '../../modules/stream/config.ts';
import { portName, type WorkerManagerConfig, workerManagerDeclaration } from '../../modules/worker-manager/config.ts';

/** A module that runs on every router, and whose port all of them share. */
export interface RouterModule extends ModuleKey {
  readonly config: unknown;
  /** The name of its port among the listeners of the engine. */
  readonly port: 'http' | 'workers' | 'browsers' | 'streams';
  /** By which jobs know a port with `rbac`, whatever number the system chooses for it. */
  readonly portName?: string;
}

/** The HTTP port, the stream port, and the ports of workers. */
export function modulesOfRouters(config: Pick<LoadedConfig, 'modules'>): RouterModule[] {
  const https = modulesOf(config, httpDeclaration);
  const streams = modulesOf(config, streamDeclaration);
  const ports = modulesOf(config, workerManagerDeclaration).map(({ config: port }) => port);
  return [
    ...https.map(({ name, config: http }, nth) => ({ name, nth, config: http, port: 'http' as const })),
    ...streams.map(({ name, config: stream }, nth) => ({ name, nth, config: stream, port: 'streams' as const })),
    ...ports.map((config, nth) => ({ name: workerManagerDeclaration.name, nth, config, ...kindOf(config) })),
  ];
}

function kindOf(config: WorkerManagerConfig): Pick<RouterModule, 'port' | 'portName'> {
  return config.rbac === undefined ? { port: 'workers' } : { port: 'browsers', portName: portName(config) };
}

/** The ports on which the first router listens, in the order of the modules. */
export function portsOf(modules: readonly RouterModule[], listeners: readonly ListenerAddress[]): number[] {
  const left = [...listeners];
  return modules.map(({ port }) => {
    const at = left.findIndex(({ name }) => name === port);
    const [listener] = left.splice(at, 1);
    if (at === -1 || listener === undefined) throw new Error(`The first router has no port for ${port}`);
    return Number(/\d+$/.exec(listener.address)?.[0]);
  });
}

/** All routers observe by the same rules. */
export function telemetryOf(config: LoadedConfig, environment: NodeJS.ProcessEnv): TelemetrySettings {
  const [entry] = modulesOf(config, otelDeclaration);
  if (entry === undefined) throw new Error('The module svc-observability always runs');
  return resolveTelemetry(entry.config, environment, config.settings.compat === 'iii');
}
