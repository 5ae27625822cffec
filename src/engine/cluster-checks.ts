// Whether the configuration suits an engine that is one of several.

import type { LoadedConfig } from '../config/load.ts';
import type { LoadedModule } from '../config/module-entries.ts';
import { formatProblem } from '../config/problem.ts';

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

function isOfOneEngine({ adapter }: LoadedModule): boolean {
  return storeMethodOf(adapter?.config) !== undefined;
}

/** Set by adapters that keep their data on this machine (modules/adapter-settings.ts). */
function storeMethodOf(config: unknown): unknown {
  return typeof config === 'object' && config !== null && 'store_method' in config ? config.store_method : undefined;
}
