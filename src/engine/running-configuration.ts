// The configuration of the running engine, and its replacement while the engine runs.
//
// Invariants:
// - A reload applies the whole file or nothing (K1): steps that can fail run first and are undone if a later one fails.
// - Reloads and changes of the file run one after the other.

import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { type ConfigChanges, changesOf } from '../config/changes.ts';
import { addWorkerEntry, removeWorkerEntry } from '../config/edit.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/problem.ts';
import { readConfigFile } from '../config/read-file.ts';
import { Refusal } from '../core/calls/refusal.ts';
import type { NewEntry, ProjectWorker } from '../core/workers/worker-manifest.ts';
import type { Logger } from '../effects/logger.ts';
import { StartFailure } from '../effects/start-failure.ts';
import type { ListenerAddress, ModuleContext, ReloadReport, RunningConfiguration } from '../modules/module.ts';
import { listModules, type ModuleSet } from './module-set.ts';
import { assertSafeToStart, declareModules } from './start-checks.ts';

export interface ReloadableConfigurationOptions {
  /** Absolute; `undefined` for the built-in defaults. */
  readonly file: string | undefined;
  readonly config: LoadedConfig;
  readonly modules: ModuleSet;
  readonly logger: Logger;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** Applied to the file at the start and at every reload. */
  readonly adapt?: (config: LoadedConfig) => LoadedConfig;
}

export interface LastReload {
  readonly at: number;
  readonly ok: boolean;
  readonly message: string;
}

export class ReloadableConfiguration implements RunningConfiguration {
  readonly file: string | undefined;
  readonly #options: ReloadableConfigurationOptions;
  readonly #listeners: (() => void)[] = [];
  #config: LoadedConfig;
  #context: ModuleContext | undefined;
  #problem: string | undefined;
  #lastReload: LastReload | undefined;
  /** Resolves when all earlier requests are done. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: ReloadableConfigurationOptions) {
    this.#options = options;
    this.#config = options.config;
    this.file = options.file;
  }

  /** The context for modules that are added later. */
  serve(context: ModuleContext): void {
    this.#context = context;
  }

  get projectWorkers(): readonly ProjectWorker[] {
    return this.#config.projectWorkers;
  }

  /** The result of the last reload; `undefined`: there was none. */
  get lastReload(): LastReload | undefined {
    return this.#lastReload;
  }

  /** The current configuration. */
  get loaded(): LoadedConfig {
    return this.#config;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  listeners(): readonly ListenerAddress[] {
    return this.#options.modules.listeners();
  }

  onReload(listener: () => void): void {
    this.#listeners.push(listener);
  }

  reload(): Promise<ReloadReport> {
    return this.#inTurn(async () => {
      if (this.file === undefined) return { ok: false, problems: [NO_FILE] };
      const read = await readConfigFile(this.file);
      return read.ok ? await this.#adopt(read.text) : this.#refuse([read.problem.message]);
    });
  }

  addEntry(entry: NewEntry): Promise<void> {
    return this.#inTurn(async () => {
      await this.#change((text) => addWorkerEntry(text, entry));
    });
  }

  removeEntry(name: string): Promise<boolean> {
    return this.#inTurn(() => this.#change((text) => removeWorkerEntry(text, name)));
  }

  /** Writes the file after the engine has applied the change: a crash between the two leaves the old file. */
  async #change(edit: (text: string) => string | undefined): Promise<boolean> {
    if (this.file === undefined) throw new Refusal('BAD_REQUEST', NO_FILE);
    const read = await readConfigFile(this.file);
    if (!read.ok) throw new Refusal('BAD_REQUEST', read.problem.message);
    const present = this.#load(read.text);
    if (Array.isArray(present)) throw new Refusal('BAD_REQUEST', `${CORRECT_FIRST}:\n${present.join('\n')}`);
    const text = edit(read.text);
    if (text === undefined) return false;
    const before = this.#problem;
    const report = await this.#adopt(text);
    if (!report.ok) {
      // The file was not changed, so its earlier problem still applies.
      this.#problem = before;
      throw new Refusal('BAD_REQUEST', report.problems.join('\n'));
    }
    await replaceFile(this.file, text);
    return true;
  }

  async #adopt(text: string): Promise<ReloadReport> {
    const loaded = this.#load(text);
    if (Array.isArray(loaded)) return this.#refuse(loaded);
    const changes = changesOf(this.#config, loaded);
    const offences = changes.settings.map((key) => `${key} can only change with a new start of the engine`);
    if (offences.length > 0) return this.#refuse(offences);
    const inside = new Map<string, readonly string[]>();
    const problems = await this.#apply(loaded, changes, inside);
    if (problems.length > 0) return this.#refuse(problems);
    this.#config = loaded;
    this.#problem = undefined;
    const described = describe(changes, inside);
    if (described.length > 0) {
      this.#options.logger.info('The configuration was reloaded', { changes: described });
      for (const listener of this.#listeners) listener();
    }
    this.#note(true, described.join(', ') || 'Nothing changed');
    return { ok: true, changes: described };
  }

  #load(text: string): LoadedConfig | string[] {
    const { environment, adapt = (config) => config } = this.#options;
    const result = loadConfig({ text, file: this.file ?? '', env: environment, ...declareModules() });
    if (!result.ok) return result.problems.map((problem) => formatProblem(problem));
    const config = adapt(result.config);
    try {
      assertSafeToStart(config);
    } catch (error) {
      if (error instanceof StartFailure) return [error.message];
      throw error;
    }
    return config;
  }

  /** Steps that can fail run first. `inside` receives the changes inside modules, by name. */
  async #apply(
    config: LoadedConfig,
    { added, removed, changed }: ConfigChanges,
    inside: Map<string, readonly string[]>,
  ): Promise<string[]> {
    const { modules } = this.#options;
    const listed = new Map(listModules(config).map((entry, index) => [config.modules[index], entry]));
    const commits: (() => void)[] = [];
    const problems: string[] = [];
    for (const { after, ...key } of changed) {
      const entry = listed.get(after);
      if (entry === undefined) continue;
      const answer = await modules.ask(key, entry);
      if (answer.ok) {
        commits.push(() => answer.commit());
        inside.set(key.name, answer.changes ?? []);
      } else problems.push(`${key.name}: ${answer.reason}`);
    }
    for (const { name, answer } of await modules.refreshOthers([...changed, ...removed])) {
      if (answer.ok) {
        commits.push(() => answer.commit());
        if (answer.changes?.length) inside.set(name, [...(inside.get(name) ?? []), ...answer.changes]);
      } else problems.push(`${name}: ${answer.reason}`);
    }
    if (problems.length > 0) return problems;
    if (this.#context === undefined) throw new Error('A reload was requested before the start');
    try {
      await modules.add(
        added.flatMap((module) => listed.get(module) ?? []),
        this.#context,
      );
    } catch (error) {
      // A module could not start; nothing has changed yet.
      return [error instanceof Error ? error.message : String(error)];
    }
    for (const commit of commits) commit();
    await modules.remove(removed);
    await modules.settled();
    return [];
  }

  #refuse(problems: readonly string[]): ReloadReport {
    this.#problem = problems.join('\n');
    this.#note(false, this.#problem);
    this.#options.logger.error('The configuration was not reloaded: the engine runs on as before', { problems });
    return { ok: false, problems };
  }

  #note(ok: boolean, message: string): void {
    this.#lastReload = { at: this.#options.nowMs(), ok, message };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }
}

const CORRECT_FIRST = 'The configuration file has problems; correct them first';

const NO_FILE = 'The engine runs with the built-in defaults; it has no configuration file to change';

function describe(
  { added, removed, changed, projectWorkers }: ConfigChanges,
  inside: ReadonlyMap<string, readonly string[]>,
): string[] {
  return [
    ...added.map(({ name }) => `${name} started`),
    ...changed.map(({ name }) => [`${name} changed`, ...(inside.get(name) ?? [])].join(': ')),
    ...[...inside].flatMap(([name, what]) =>
      changed.some((key) => key.name === name) ? [] : `${name}: ${what.join(', ')}`,
    ),
    ...removed.map(({ name }) => `${name} stopped`),
    ...(projectWorkers ? ['project workers changed'] : []),
  ];
}

/** Replaces the file atomically and keeps its permissions, because it may hold secrets. */
async function replaceFile(name: string, text: string): Promise<void> {
  // For a symbolic link, its target is replaced.
  const file = await realpath(name);
  const { mode } = await stat(file);
  const next = `${file}.next`;
  await rm(next, { force: true });
  const handle = await open(next, 'wx', mode & PERMISSIONS);
  try {
    // The umask may have removed permissions that the old file had.
    await handle.chmod(mode & PERMISSIONS);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(next, file);
}

const PERMISSIONS = 0o777;
