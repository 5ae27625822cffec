// The modules that a configuration starts, with their code.

import type { LoadedConfig } from '../config/load.ts';
import { MODULES } from '../modules/catalogue.ts';
import type { ChosenAdapter, ModuleDefinition } from '../modules/module.ts';

export interface ListedModule {
  readonly name: string;
  readonly adapter: ChosenAdapter | undefined;
  readonly definition: ModuleDefinition;
  readonly config: unknown;
}

/** The code of the configured modules. */
export function listModules(config: LoadedConfig): ListedModule[] {
  return config.modules.map(({ name, adapter, config: moduleConfig }) => ({
    name,
    adapter,
    definition: definitionOf(name),
    config: moduleConfig,
  }));
}

function definitionOf(name: string): ModuleDefinition {
  const definition = MODULES.find(({ declaration }) => declaration.name === name);
  if (definition === undefined) throw new Error(`The loader accepted a module that is not in the catalogue: ${name}`);
  return definition;
}
