// A minimal trigger type of a module: it keeps its bindings and records its notices.

import type { Binding, ModuleTriggerType } from '../../../src/router/builtin.ts';
import type { EngineInMemory } from './engine-in-memory.ts';

export interface NotedTriggerType {
  /** The present bindings. */
  readonly bindings: Set<Binding>;
  /** `+id` and `-id`, in the order of the notices. */
  readonly story: string[];
  readonly configs: unknown[];
}

/** Adds the type to the engine. A config with the key `bad` is refused. */
export function addTriggerType(engine: EngineInMemory, id: string): NotedTriggerType {
  const noted: NotedTriggerType = { bindings: new Set(), story: [], configs: [] };
  const type: ModuleTriggerType = {
    id,
    spec: { description: `Type ${id}`, configFormat: undefined, payloadFormat: undefined },
    refuse: (config) => (Object.hasOwn(config ?? {}, 'bad') ? 'The config must not be bad' : undefined),
    bound(binding, config) {
      noted.story.push(`+${binding.id}`);
      noted.configs.push(config);
      noted.bindings.add(binding);
    },
    unbound(binding) {
      noted.story.push(`-${binding.id}`);
      if (!noted.bindings.delete(binding)) throw new Error(`${binding.id} left without having been there`);
    },
  };
  engine.context.triggers.addModuleType(id, type.spec, type);
  return noted;
}
