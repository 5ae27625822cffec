// The differences between the running configuration and the present file. Pure.

import { isDeepStrictEqual } from 'node:util';
import type { LoadedConfig } from './load.ts';
import type { LoadedModule } from './module-entries.ts';

export interface ConfigChanges {
  /** Top-level keys. */
  readonly settings: readonly string[];
  readonly added: readonly LoadedModule[];
  readonly removed: readonly ModuleKey[];
  readonly changed: readonly (ModuleKey & { readonly after: LoadedModule })[];
  readonly projectWorkers: boolean;
}

/** For modules that may be listed several times, the n-th. */
export interface ModuleKey {
  readonly name: string;
  readonly nth: number;
}

export function changesOf(before: LoadedConfig, after: LoadedConfig): ConfigChanges {
  const were = byKey(before.modules);
  const are = byKey(after.modules);
  const changed = [...are.values()].flatMap((now) => {
    const then = were.get(textOf(now));
    return then === undefined || isSame(then.module, now.module) ? [] : [{ ...keyOf(now), after: now.module }];
  });
  return {
    settings: changedKeys(before.settings, after.settings),
    added: [...are.values()].filter((now) => !were.has(textOf(now))).map(({ module }) => module),
    removed: [...were.values()].filter((then) => !are.has(textOf(then))).map(keyOf),
    changed,
    projectWorkers: !isDeepStrictEqual(before.projectWorkers, after.projectWorkers),
  };
}

interface KeyedModule extends ModuleKey {
  readonly module: LoadedModule;
}

function byKey(modules: readonly LoadedModule[]): Map<string, KeyedModule> {
  const keyed = new Map<string, KeyedModule>();
  for (const module of modules) {
    let nth = 0;
    while (keyed.has(textOf({ name: module.name, nth }))) nth++;
    keyed.set(textOf({ name: module.name, nth }), { name: module.name, nth, module });
  }
  return keyed;
}

function textOf({ name, nth }: ModuleKey): string {
  return `${name} ${nth}`;
}

function keyOf({ name, nth }: KeyedModule): ModuleKey {
  return { name, nth };
}

function isSame(one: LoadedModule, other: LoadedModule): boolean {
  return (
    isDeepStrictEqual(one.config, other.config) &&
    one.adapter?.name === other.adapter?.name &&
    isDeepStrictEqual(one.adapter?.config, other.adapter?.config)
  );
}

function changedKeys(before: object, after: object): string[] {
  const then = new Map<string, unknown>(Object.entries(before));
  const now = new Map<string, unknown>(Object.entries(after));
  const keys = new Set([...then.keys(), ...now.keys()]);
  return [...keys].filter((key) => !isDeepStrictEqual(then.get(key), now.get(key))).sort();
}
