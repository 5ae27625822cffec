// From the text of a configuration file to the loaded configuration, or to all of its problems. Pure: the text, the
// environment and the known modules are arguments, so that a start, a reload and `svc config check` use the same code
// (K1, K4).

import { resolve } from 'node:path';
import { checkValue, type FieldProblem, isMap, type Path } from '../core/config-fields/fields-check.ts';
import type { ModuleDeclaration } from '../core/config-fields/module-declaration.ts';
import { isSecretKey } from '../core/config-fields/redaction.ts';
import type { ProjectWorker } from '../core/workers/worker-manifest.ts';
import { type ConfigDocument, readDocument } from './document.ts';
import { applyEdits, type Edit, REMOVED } from './foreign/edits.ts';
import { translateForeign } from './foreign/translate.ts';
import { type ListEntry, type LoadedModule, type ModuleCatalogue, readModules } from './module-entries.ts';
import { type Environment, expandPlaceholders, placeholderNames } from './placeholders.ts';
import { type ConfigProblem, formatPath, formatProblem } from './problem.ts';
import { findContradictions, type Settings, topLevel } from './settings.ts';

export interface LoadedConfig {
  readonly settings: Settings;
  /**
   * Modules that run without an entry, then in the order of the file: those under `workers`, then those under
   * `modules`.
   */
  readonly modules: readonly LoadedModule[];
  readonly projectWorkers: readonly ProjectWorker[];
  readonly warnings: readonly string[];
  /** The name of the file, and its content before variables are expanded. */
  readonly file: string;
  readonly written: unknown;
  /** Adds the position in the file to a problem that is found later. */
  locate(problem: FieldProblem): ConfigProblem;
}

export type LoadResult =
  | { readonly ok: true; readonly config: LoadedConfig }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

interface ConfigSource extends ModuleCatalogue {
  readonly text: string;
  /** Named in every problem. */
  readonly file: string;
  readonly env: Environment;
}

export function loadConfig({ text, file, env, declarations, unbuilt }: ConfigSource): LoadResult {
  const read = readDocument(text, file);
  if (!read.ok) return read;
  const { document } = read;
  const expanded = expandPlaceholders(document.value, env, (path) => document.entryAt(path).isQuoted);
  const edits = translateForeign(expanded.value, expanded.value, isNameAmong({ declarations, unbuilt }));
  // A file without any entry is a complete configuration: all defaults.
  const root = edits.length === 0 ? (expanded.value ?? {}) : applyEdits(expanded.value, edits);
  const isHidden = (path: Path) => namesSecretVariable(document, path);
  const checked = checkValue(topLevel, root, { isHidden });
  const entries = [...listEntries(root, 'workers'), ...listEntries(root, 'modules')];
  const { modules, projectWorkers, problems } = readModules(entries, { declarations, unbuilt }, isHidden);
  if (!checked.ok) return refuse(document, expanded.problems, [...checked.problems, ...problems]);
  const { workers: _workers, modules: _modules, ...settings } = checked.value;
  const found = [...findContradictions(settings), ...problems];
  if (found.length + expanded.problems.length > 0) return refuse(document, expanded.problems, found);
  const { locate, value: written } = document;
  const translated = edits.filter(({ isWarning }) => isWarning).map((edit) => warningOf(document, edit));
  const warnings = [...document.warnings, ...translated];
  return { ok: true, config: { settings, modules, projectWorkers, warnings, file, written, locate } };
}

/** The entries of one module, with the type of its configuration. */
export function modulesOf<C>(
  { modules }: Pick<LoadedConfig, 'modules'>,
  declaration: ModuleDeclaration<C>,
): readonly LoadedModule<C>[] {
  return modules.filter((module): module is LoadedModule<C> => module.declaration === declaration);
}

function listEntries(root: unknown, key: string): readonly ListEntry[] {
  const list = isMap(root) ? root[key] : undefined;
  if (!Array.isArray(list)) return [];
  return list.map((value: unknown, index) => ({ value, path: [key, index] })).filter(({ value }) => value !== REMOVED);
}

/** Whether an entry of this engine may have that name. */
export function isNameAmong({ declarations, unbuilt }: ModuleCatalogue): (word: string) => boolean {
  const spellings = declarations.flatMap(({ name, aliases, classes }) => [name, ...aliases, ...classes]);
  const names = new Set([...spellings, ...unbuilt.flatMap(({ names: refused }) => refused)]);
  return (word) => names.has(word);
}

function warningOf(document: ConfigDocument, { path, note }: Edit): string {
  const message = `${note}.`;
  return formatProblem({ ...document.locate({ path, at: 'key', message }), excerpt: '' });
}

/** A variable such as API_TOKEN may be used in the wrong field, whose message must not repeat it. */
function namesSecretVariable(document: ConfigDocument, path: Path): boolean {
  const { value } = document.entryAt(path);
  return typeof value === 'string' && placeholderNames(value).some(isSecretKey);
}

/** All problems in the order of the file. Consequences of a missing variable are omitted: it is reported already. */
function refuse(
  document: ConfigDocument,
  unexpanded: readonly FieldProblem[],
  found: readonly FieldProblem[],
): LoadResult {
  const reported = new Set(unexpanded.map(({ path }) => formatPath(path)));
  const rest = found.filter(({ path }) => !reported.has(formatPath(path)));
  const problems = [...unexpanded, ...rest].map((problem) => document.locate(problem));
  return { ok: false, problems: problems.sort((one, other) => one.line - other.line || one.column - other.column) };
}

/** The directories of its stores, each once: for commands that work on stores while no engine runs. */
export function storeFolders(config: LoadedConfig, startedIn: string): string[] {
  const folders = config.modules.flatMap(({ adapter }) => {
    const folder = folderIn(adapter?.config);
    return folder === undefined ? [] : [resolve(startedIn, folder)];
  });
  return [...new Set(folders)];
}

/** In any module, a config with these two fields of `modules/adapter-settings.ts` is a store on this machine. */
function folderIn(config: unknown): string | undefined {
  if (typeof config !== 'object' || config === null) return undefined;
  const { store_method: method, file_path: folder } = config as { store_method?: unknown; file_path?: unknown };
  return method === 'file_based' && typeof folder === 'string' ? folder : undefined;
}
