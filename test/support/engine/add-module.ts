// Adds a module to an engine in memory, as `src/engine/engine.ts` does at its start.

import type { EngineModule } from '../../../src/modules/module.ts';
import type { EngineInMemory } from './engine-in-memory.ts';

export async function addModule({ context }: EngineInMemory, name: string, module: EngineModule): Promise<void> {
  for (const handler of module.functions) {
    const { id, description } = handler;
    const spec = { description, requestFormat: undefined, responseFormat: undefined, metadata: undefined };
    context.functions.addBuiltin({ kind: 'builtin', id, module: name, spec, handler });
  }
  for (const type of module.triggerTypes) context.triggers.addModuleType(type.id, type.spec, type);
  await module.start();
}
