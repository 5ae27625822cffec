// Whether the configuration suits an engine that is one of several.

import { type LoadedConfig, modulesOf } from '../config/load.ts';
import type { LoadedModule } from '../config/module-entries.ts';
import { formatProblem } from '../config/problem.ts';
import type { SharedConfiguration } from '../core/cluster/shared-configuration.ts';
import { redactUrl } from '../core/config-fields/redaction.ts';
import { workerManagerDeclaration } from '../modules/worker-manager/config.ts';

/** Modules whose data all engines have to share. Claims of `svc-cron` lie in the cluster. */
const SHARED: ReadonlySet<string> = new Set(['svc-state', 'svc-stream', 'svc-queue']);

/** Why engines of a cluster would contradict each other; `undefined`: they do not. */
export function unsharedStore(config: LoadedConfig): string | undefined {
  if (config.settings.cluster === undefined) return undefined;
  const offender = config.modules.find((module) => SHARED.has(module.name) && isOfOneEngine(module));
  if (offender === undefined) return undefined;
  const { name, path, adapter } = offender;
  const kind = storeMethodOf(adapter?.config) === 'in_memory' ? 'in the memory' : 'in a directory';
  const shared = name === 'svc-queue' ? 'extstore or rabbitmq' : 'extstore';
  const message =
    `With cluster, ${name} must not keep its data ${kind} of one engine (store_method of the adapter ` +
    `${adapter?.name ?? 'kv'}). Choose an adapter that all engines share: ${shared}.`;
  return formatProblem(config.locate({ path: [...path, 'config', 'adapter'], at: 'key', message }));
}

/** What this engine has to have in common with the others of its cluster. */
export function sharedConfiguration({ settings, modules }: LoadedConfig): SharedConfiguration {
  const shared = modules.filter(({ name }) => SHARED.has(name));
  return {
    stores: Object.fromEntries(shared.map((module) => [module.name, placeOf(module)])),
    compat: settings.compat ?? 'none',
    rules: {
      balance: JSON.stringify(settings.balance),
      ...Object.fromEntries(modules.flatMap((module) => [...queueRules(module), ...portRules(module)])),
    },
  };
}

/** The adapter, and what names its place: without credentials, and without what only tunes it. */
function placeOf({ adapter }: LoadedModule): string {
  const config = Object(adapter?.config);
  const place = PLACE_FIELDS.flatMap((field) => {
    const value: unknown = config[field];
    // Each engine may name its nearest node first.
    if (Array.isArray(value)) return value.map(String).map(redactUrl).toSorted();
    return typeof value === 'string' ? [redactUrl(value)] : [];
  });
  return [adapter?.name ?? '', ...place].join(' ');
}

const PLACE_FIELDS = ['extstore_url', 'redis_url', 'amqp_url', 'bridge_url', 'key_prefix', 'prefix'];

function queueRules({ name, config }: LoadedModule): [string, string][] {
  if (typeof config !== 'object' || config === null || !('queue_configs' in config)) return [];
  return [[`queue_configs of ${name}`, JSON.stringify(config.queue_configs)]];
}

/** Jobs of restricted connections run on every engine with the rules of the port of that name. */
function portRules({ name, config }: LoadedModule): [string, string][] {
  if (name !== workerManagerDeclaration.name || typeof config !== 'object' || config === null) return [];
  if (!('rbac' in config) || !('name' in config)) return [];
  return [[`rbac of the port ${config.name}`, JSON.stringify(config.rbac)]];
}

/** Restricted ports without a name: an engine at another address cannot run the jobs of their connections. */
export function unnamedPorts(config: LoadedConfig): string[] {
  if (config.settings.cluster === undefined) return [];
  return modulesOf(config, workerManagerDeclaration).flatMap(({ config: { rbac, name, host, port } }) => {
    if (rbac === undefined || name !== undefined) return [];
    return [`The port ${host}:${port} has rbac and no name: other engines do not run the jobs of its connections`];
  });
}

/** Two ports of one name: whose rules a job has is unknown. */
export function doubleName(config: LoadedConfig): string | undefined {
  const names = new Set<string>();
  for (const { config: port, path } of modulesOf(config, workerManagerDeclaration)) {
    if (port.name !== undefined && names.has(port.name)) {
      const message = `Another port is named '${port.name}', too. Give each port a name of its own.`;
      return formatProblem(config.locate({ path: [...path, 'config', 'name'], at: 'value', message }));
    }
    if (port.name !== undefined) names.add(port.name);
  }
  return undefined;
}

function isOfOneEngine({ adapter }: LoadedModule): boolean {
  return storeMethodOf(adapter?.config) !== undefined;
}

/** Set by adapters that keep their data on this machine (modules/adapter-settings.ts). */
function storeMethodOf(config: unknown): unknown {
  return typeof config === 'object' && config !== null && 'store_method' in config ? config.store_method : undefined;
}
