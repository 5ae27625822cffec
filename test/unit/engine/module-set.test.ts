import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../src/core/calls/refusal.ts';
import { fields } from '../../../src/core/config-fields/fields.ts';
import { StartFailure } from '../../../src/effects/start-failure.ts';
import { type ListedModule, ModuleSet } from '../../../src/engine/module-set.ts';
import { defineModule, type EngineModule, HOLDS_NOTHING } from '../../../src/modules/module.ts';
import { StoreRegistry } from '../../../src/store/directory/registry.ts';
import { EngineInMemory } from '../../support/engine/engine-in-memory.ts';

describe('modules that a reload adds', () => {
  test('[K1] are all removed if one of them cannot start', async () => {
    const story: string[] = [];
    const engine = new EngineInMemory();
    const modules = modulesOf(engine);
    const listed = [
      recordingModule('one', story),
      recordingModule('two', story, async () => failWith('its port is taken')),
    ];
    await expect(modules.add(listed, engine.moduleContext())).rejects.toThrow('its port is taken');
    expect(story).toEqual(['one starts', 'two starts', 'two stops', 'two closes', 'one stops', 'one closes']);
    expect(modules.names).toEqual([]);
    expect(engine.context.functions.get('one::f')).toBeUndefined();
  });

  test('[K1] are all removed if one of them clashes with a running module', async () => {
    const story: string[] = [];
    const engine = new EngineInMemory();
    const modules = modulesOf(engine);
    await modules.add([recordingModule('one', story)], engine.moduleContext());
    await expect(modules.add([recordingModule('one', story)], engine.moduleContext())).rejects.toThrow(
      /cannot be started/,
    );
    expect(story).toEqual(['one starts', 'one stops', 'one closes']);
    expect(engine.context.functions.get('one::f')).toBeDefined();
  });
});

test('[K3] a broker that is lost while a module starts ends the start with exit code 75', async () => {
  const engine = new EngineInMemory();
  const away = async (): Promise<void> => {
    throw new Refusal('STORAGE_UNAVAILABLE', 'it answered nothing');
  };
  const added = modulesOf(engine).add([recordingModule('one', [], away)], engine.moduleContext());
  await expect(added).rejects.toMatchObject({ exitCode: 75, message: 'it answered nothing' });
});

function failWith(reason: string): never {
  throw new StartFailure(75, reason);
}

/** A module with one function that records its calls. */
function recordingModule(name: string, story: string[], start = async (): Promise<void> => {}): ListedModule {
  const module: EngineModule = {
    ...HOLDS_NOTHING,
    functions: [{ id: `${name}::f`, description: 'F', handle: () => null }],
    triggerTypes: [],
    async start() {
      story.push(`${name} starts`);
      await start();
    },
    stop: () => void story.push(`${name} stops`),
    close: async () => void story.push(`${name} closes`),
    health: () => ({ status: 'healthy' }),
  };
  const facts = { name, aliases: [], classes: [], repeatable: false, alwaysLoaded: false, adapters: [] };
  const definition = defineModule({ declaration: { ...facts, config: fields({}) }, create: () => module });
  return { name, definition, declaration: definition.declaration, config: {}, path: [] };
}

function modulesOf({ context }: EngineInMemory): ModuleSet {
  const { clock, logger, counters, random } = context;
  const createWorker = (): never => failWith('No module of these tests has a store');
  const stores = { clock, logger, counters, random, isDropIn: false, createWorker, onFailure: () => {} };
  return new ModuleSet(context, new StoreRegistry(stores));
}
