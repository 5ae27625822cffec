// A configuration as `svc dev` runs it: all stores are in memory, and all ports are moved by the same amount. It works
// on the checked configuration, so that defaults, aliases and both styles of the file need no special case.

import { isMap } from '../core/config-fields/fields-check.ts';
import type { LoadedConfig } from './load.ts';
import type { LoadedModule } from './module-entries.ts';

export interface DevelopmentOptions {
  /** Keep the stores of the file. */
  readonly keep: boolean;
  readonly portOffset: number;
}

export function forDevelopment(config: LoadedConfig, options: DevelopmentOptions): LoadedConfig {
  return { ...config, modules: config.modules.map((module) => changed(module, options)) };
}

function changed(module: LoadedModule, { keep, portOffset }: DevelopmentOptions): LoadedModule {
  const moved = withPort(module, portOffset);
  if (keep) return moved;
  const { adapter } = moved;
  const config = withoutDisk(moved.config);
  if (adapter === undefined || !isMap(adapter.config) || adapter.config.store_method === undefined) {
    return { ...moved, config };
  }
  return { ...moved, config, adapter: { ...adapter, config: { ...adapter.config, store_method: 'in_memory' } } };
}

/** A port of 0 is any free one already. */
function withPort(module: LoadedModule, offset: number): LoadedModule {
  const { config } = module;
  if (!isMap(config) || typeof config.port !== 'number' || config.port === 0) return module;
  return { ...module, config: { ...config, port: config.port + offset } };
}

/** The store of traces, the only one that is not an adapter. */
function withoutDisk(config: unknown): unknown {
  if (!isMap(config) || config.trace_storage === undefined) return config;
  const { trace_storage: _storage, ...rest } = config;
  return rest;
}
