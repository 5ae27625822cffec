// The entries of `workers:` and `modules:`, each resolved to its declaration and checked against it.

import {
  anything,
  type FieldsSchema,
  fields,
  optional,
  refused,
  type Schema,
  text,
} from '../core/config-fields/fields.ts';
import { checkValue, type FieldProblem, isMap, type Path, quote } from '../core/config-fields/fields-check.ts';
import type { AdapterDeclaration, ModuleDeclaration } from '../core/config-fields/module-declaration.ts';
import { nearestWords } from '../core/config-fields/nearest.ts';
import type { ProjectWorker } from '../core/workers/worker-manifest.ts';
import { formatPath } from './problem.ts';
import { readProjectWorker } from './project-workers.ts';

export interface LoadedModule<C = unknown> {
  readonly declaration: ModuleDeclaration<C>;
  readonly name: string;
  readonly config: C;
  /** Only for modules that have adapters. */
  readonly adapter?: LoadedAdapter;
  /** Its path in the file; empty for a module that runs without an entry. */
  readonly path: Path;
}

export interface LoadedAdapter {
  readonly declaration: AdapterDeclaration;
  readonly name: string;
  readonly config: unknown;
}

/** Modules of the product that this version does not contain yet. */
export interface UnbuiltModules {
  readonly names: readonly string[];
  readonly message: string;
}

export interface ModuleCatalogue {
  readonly declarations: readonly ModuleDeclaration[];
  readonly unbuilt: readonly UnbuiltModules[];
}

export interface ListEntry {
  readonly value: unknown;
  readonly path: Path;
}

interface ReadModules {
  readonly modules: readonly LoadedModule[];
  readonly projectWorkers: readonly ProjectWorker[];
  readonly problems: readonly FieldProblem[];
}

/** The modules that the entries name. If there are problems, the list is incomplete and must not be used. */
export function readModules(
  entries: readonly ListEntry[],
  catalogue: ModuleCatalogue,
  isHidden: (path: Path) => boolean,
): ReadModules {
  const reading: Reading = { catalogue, isHidden, problems: [], listed: new Map(), projectWorkers: new Map() };
  const listed = entries.flatMap((entry) =>
    isProjectWorker(entry) ? readProject(entry, reading) : (readEntry(entry, reading) ?? []),
  );
  const implied = catalogue.declarations
    .filter((declaration) => declaration.alwaysLoaded && !isReplaced(declaration, listed))
    .map(withDefaults);
  const projectWorkers = [...reading.projectWorkers.values()];
  return { modules: [...implied, ...listed], projectWorkers, problems: reading.problems };
}

function isProjectWorker({ value }: ListEntry): boolean {
  return isMap(value) && Object.hasOwn(value, 'path');
}

function readProject({ value, path }: ListEntry, reading: Reading): LoadedModule[] {
  const read = readProjectWorker(value, path, reading.isHidden);
  if (!('name' in read)) {
    reading.problems.push(...read);
  } else if (reading.projectWorkers.has(read.name)) {
    const message = `Another worker is named ${quote(read.name)} already.`;
    reading.problems.push({ path: [...path, 'name'], at: 'value', message });
  } else if (findByName(read.name, reading.catalogue.declarations) !== undefined) {
    const message = `${quote(read.name)} is the name of a module of the engine; a worker with a path needs its own.`;
    reading.problems.push({ path: [...path, 'name'], at: 'value', message });
  } else {
    reading.projectWorkers.set(read.name, read);
  }
  return [];
}

/** Whether an entry replaces the module that would run without one. */
function isReplaced(declaration: ModuleDeclaration, listed: readonly LoadedModule[]): boolean {
  return listed.some(
    // An invalid config has no value; it is reported as such, and nothing runs.
    ({ declaration: own, config }) =>
      own === declaration && (config === undefined || (declaration.standsForDefault?.(config) ?? true)),
  );
}

/** A module that runs without an entry. */
function withDefaults(declaration: ModuleDeclaration): LoadedModule {
  const checked = checkValue(declaration.config, {});
  if (!checked.ok) throw new Error(`The defaults of ${declaration.name} break its own schema`);
  return { declaration, name: declaration.name, config: declaration.unaskedConfig ?? checked.value, path: [] };
}

interface Reading {
  readonly catalogue: ModuleCatalogue;
  readonly isHidden: (path: Path) => boolean;
  readonly problems: FieldProblem[];
  /** Where each module was listed first. */
  readonly listed: Map<ModuleDeclaration, string>;
  readonly projectWorkers: Map<string, ProjectWorker>;
}

/** The keys that make an entry something other than a built-in module. */
const FOREIGN_KEYS = {
  env: refused("Only a worker with a 'path' has an environment of its own."),
  image: refused('This version does not run container images. Remove this entry.'),
};

const entrySchema = fields({
  name: optional(text()),
  class: optional(text()),
  config: optional(anything()),
  ...FOREIGN_KEYS,
});

const adapterSchema = optional(
  fields({ name: optional(text()), class: optional(text()), config: optional(anything()) }),
);

function readEntry({ value, path }: ListEntry, reading: Reading): LoadedModule | undefined {
  check(entrySchema, value, path, reading);
  // A problem of the entry itself is reported; the rest of it is still checked.
  if (!isMap(value) || Object.keys(FOREIGN_KEYS).some((key) => Object.hasOwn(value, key))) return undefined;
  const named = readName('module', value, path, reading);
  if (named === undefined) return undefined;
  const declaration = findModule(named, reading);
  if (declaration === undefined) return undefined;
  refuseRepetition(declaration, path, named.path, reading);
  const configPath = [...path, 'config'];
  const given = value.config ?? {};
  const known = reading.problems.length;
  const config = check(configSchema(declaration), given, configPath, reading);
  const hasAdapter = declaration.adapters.length > 0;
  const adapterPath = [...configPath, 'adapter'];
  const adapter = hasAdapter
    ? readAdapter(declaration, isMap(given) ? given.adapter : undefined, adapterPath, reading)
    : undefined;
  if (reading.problems.length === known) {
    const found = declaration.contradictions?.(config, adapter) ?? [];
    reading.problems.push(...found.map((problem) => ({ ...problem, path: [...configPath, ...problem.path] })));
  }
  const loaded = { declaration, name: declaration.name, path };
  if (!hasAdapter) return { ...loaded, config };
  if (adapter === undefined || !isMap(config)) return undefined;
  return { ...loaded, config: withoutAdapter(config), adapter };
}

/** `adapter` is checked along with the module's own keys, so that a misspelt `adaptor` finds it. */
function configSchema({ config, adapters }: ModuleDeclaration): FieldsSchema<unknown> {
  if (adapters.length === 0) return config;
  return { ...config, fields: new Map([...config.fields, ['adapter', adapterSchema]]) };
}

function withoutAdapter(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(config)) if (key !== 'adapter') own[key] = value;
  return own;
}

function readAdapter(
  declaration: ModuleDeclaration,
  given: unknown,
  path: Path,
  reading: Reading,
): LoadedAdapter | undefined {
  const adapter = given === undefined ? declaration.adapters[0] : findAdapter(declaration, given, path, reading);
  if (adapter === undefined) return undefined;
  const givenConfig = isMap(given) ? (given.config ?? {}) : {};
  const known = reading.problems.length;
  const config = check(adapter.config, givenConfig, [...path, 'config'], reading);
  if (reading.problems.length === known) {
    const found = adapter.contradictions?.(config) ?? [];
    reading.problems.push(...found.map((problem) => ({ ...problem, path: [...path, 'config', ...problem.path] })));
  }
  return { declaration: adapter, name: adapter.name, config };
}

function findAdapter(
  { name, adapters }: ModuleDeclaration,
  given: unknown,
  path: Path,
  reading: Reading,
): AdapterDeclaration | undefined {
  const named = isMap(given) ? readName('adapter', given, path, reading) : undefined;
  if (named === undefined) return undefined;
  const adapter = findByName(named.word, adapters);
  if (adapter === undefined) {
    const message = describeUnknown(`adapter of ${name}`, named.word, reading.isHidden(named.path), adapters);
    reading.problems.push({ path: named.path, at: 'value', message });
  }
  return adapter;
}

interface NamedEntry {
  readonly word: string;
  readonly path: Path;
}

/** The word under `name` or `class`; values of another type were refused by the schema. */
function readName(
  what: string,
  entry: Readonly<Record<string, unknown>>,
  path: Path,
  { problems }: Reading,
): NamedEntry | undefined {
  const keys = ['name', 'class'].filter((key) => entry[key] !== undefined && entry[key] !== null);
  const [key] = keys;
  if (key === undefined) {
    problems.push({ path: [...path, 'name'], at: 'key', message: `Missing 'name' (or 'class') of the ${what}.` });
    return undefined;
  }
  if (keys.length > 1) {
    problems.push({ path: [...path, 'class'], at: 'key', message: "Give either 'name' or 'class', not both." });
    return undefined;
  }
  const word = entry[key];
  return typeof word === 'string' && word !== '' ? { word, path: [...path, key] } : undefined;
}

function findModule(
  { word, path }: NamedEntry,
  { catalogue, problems, isHidden }: Reading,
): ModuleDeclaration | undefined {
  const declaration = findByName(word, catalogue.declarations);
  if (declaration !== undefined) return declaration;
  const unbuilt = catalogue.unbuilt.find(({ names }) => names.includes(word));
  const message = unbuilt?.message ?? describeUnknown('module', word, isHidden(path), catalogue.declarations);
  problems.push({ path, at: 'value', message });
  return undefined;
}

function refuseRepetition(declaration: ModuleDeclaration, path: Path, namePath: Path, reading: Reading): void {
  const first = reading.listed.get(declaration);
  if (first === undefined) reading.listed.set(declaration, formatPath(path));
  else if (!declaration.repeatable) {
    const message = `${declaration.name} is already listed at ${first}, and can be listed only once.`;
    reading.problems.push({ path: namePath, at: 'value', message });
  }
}

function check(schema: Schema<unknown>, value: unknown, path: Path, reading: Reading): unknown {
  const checked = checkValue(schema, value, { path, isHidden: reading.isHidden });
  if (checked.ok) return checked.value;
  reading.problems.push(...checked.problems);
  return undefined;
}

/** What modules and adapters share: each can be written by name, by short form and by class. */
interface Named {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly classes: readonly string[];
}

function findByName<N extends Named>(word: string, named: readonly N[]): N | undefined {
  return named.find((candidate) => spellingsOf(candidate).includes(word));
}

/** "Unknown module 'svc-strem'. Did you mean 'svc-stream'? Known: …" A hidden word came out of a secret variable. */
function describeUnknown(what: string, word: string, isHidden: boolean, named: readonly Named[]): string {
  const [meant] = nearestWords(word, named.flatMap(spellingsOf));
  const typed = isHidden ? '' : ` ${quote(word)}`;
  const guess = isHidden || meant === undefined ? '' : ` Did you mean '${meant}'?`;
  const known = named.map(({ name }) => name).join(', ');
  return `Unknown ${what}${typed}.${guess} Known: ${known}.`;
}

function spellingsOf({ name, aliases, classes }: Named): readonly string[] {
  return [name, ...aliases, ...classes];
}
