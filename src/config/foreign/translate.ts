// A configuration file of `iii` in the form of this engine, as a list of changes with their reasons (DECISIONS 52).
//
// A file is one of `iii` if it names a module as only `iii` does (`iii-http`), or has `compat: iii`.
// Neighbours: `load.ts` applies the changes when the engine reads the file; `svc config convert` writes them.

import { isMap, type Path } from '../../core/config-fields/fields-check.ts';
import type { Edit } from './edits.ts';
import { at, ForeignEntry } from './entry.ts';
import { type Contribution, isEntry, MODULE_RULES, startCommand, translateAdapter } from './module-rules.ts';
import { isForeignName, isPartOfObservability, moduleNameOf } from './names.ts';

/** Top-level settings of `iii` that have no counterpart. */
const DROPPED: Readonly<Record<string, string>> = {
  registration_namespace_grace_ms: 'svc has no namespaces',
};

const LISTS = ['workers', 'modules'] as const;

/**
 * `root`: the value of the file with its placeholders expanded, by which is decided. `written`: the value as in the
 * file, of which parts are moved. `isOwnName`: whether a file of this engine may name a module so. No changes: it is
 * such a file.
 */
export function translateForeign(
  root: unknown,
  written: unknown,
  isOwnName: (word: string) => boolean,
): readonly Edit[] {
  if (!isMap(root)) return [];
  const listed = entriesOf(root);
  const isForeign = listed.some(
    ({ word }) => isForeignName(word) || (!isOwnName(word) && moduleNameOf(word) !== undefined),
  );
  if (!isForeign && root.compat !== 'iii') return [];
  const edits: Edit[] = [];
  if (root.compat === undefined) {
    const note = 'this is a configuration of iii, so the engine answers as iii does; compat: none switches that off';
    edits.push({ path: ['compat'], value: 'iii', note, isWarning: true });
  }
  for (const [key, why] of Object.entries(DROPPED)) {
    if (root[key] !== undefined) edits.push({ path: [key], note: `${key} has no effect: ${why}`, isWarning: true });
  }
  const translation = new Translation(root, written, edits);
  for (const { path, word } of listed) translation.entry(path, word);
  translation.finish();
  return edits;
}

interface NamedEntry {
  readonly path: Path;
  readonly word: string;
}

function entriesOf(root: Readonly<Record<string, unknown>>): NamedEntry[] {
  return LISTS.flatMap((list) => {
    const entries: unknown = root[list];
    if (!Array.isArray(entries)) return [];
    return entries.flatMap((entry: unknown, index): NamedEntry[] => {
      const word = isEntry(entry) ? (entry.name ?? entry.class) : undefined;
      return typeof word === 'string' ? [{ path: [list, index], word }] : [];
    });
  });
}

class Translation {
  readonly #root: Readonly<Record<string, unknown>>;
  readonly #written: unknown;
  readonly #edits: Edit[];
  readonly #allow = new Set<string>();
  /** The entry that takes the settings of modules of `iii` which are parts of one module here. */
  readonly #observability: NamedEntry | undefined;
  #execs = 0;
  #hasTrustedPort = false;

  constructor(root: Readonly<Record<string, unknown>>, written: unknown, edits: Edit[]) {
    this.#root = root;
    this.#written = written;
    this.#edits = edits;
    const entries = entriesOf(root).filter(({ word }) => (moduleNameOf(word) ?? word) === 'svc-observability');
    this.#observability = entries.find(({ word }) => !isPartOfObservability(word)) ?? entries[0];
  }

  entry(path: Path, word: string): void {
    const name = moduleNameOf(word) ?? word;
    const entry = this.#at(path, name);
    if (name === 'svc-worker-manager' && !entry.has('rbac')) this.#hasTrustedPort = true;
    if (name === 'svc-observability' && this.#joins(entry, word)) return;
    if (name === 'svc-exec' && startCommand(entry) !== undefined) return this.#exec(entry, word);
    const contribution: Contribution | undefined = Object.hasOwn(MODULE_RULES, name)
      ? MODULE_RULES[name]?.(entry)
      : undefined;
    for (const host of contribution?.allow ?? []) this.#allow.add(host);
    if (entry.isRemoved) return;
    translateAdapter(entry);
    this.#rename(entry, word);
  }

  #at(path: Path, name: string): ForeignEntry {
    const isDropIn = this.#root.compat !== 'none';
    const parts = { path, name, value: at(this.#root, path), written: at(this.#written, path), isDropIn };
    return new ForeignEntry(parts, this.#edits);
  }

  /** What concerns the file as a whole. */
  finish(): void {
    const port = at(this.#written, ['port']);
    if (this.#root.port !== undefined) {
      const list = Array.isArray(this.#root.workers) ? this.#root.workers.length : 0;
      const note = 'port is a setting of svc-worker-manager';
      this.#edits.push({ path: ['port'], note, isWarning: false });
      if (!this.#hasTrustedPort) {
        const value = { name: 'svc-worker-manager', config: { port } };
        this.#edits.push({ path: ['workers', list], value, note: 'was the top-level port', isWarning: false });
      }
    }
    if (this.#allow.size === 0) return;
    const listed = at(this.#written, ['outgoing', 'allow']);
    const value = [...new Set([...(Array.isArray(listed) ? listed : []), ...this.#allow])];
    const note = 'outgoing.allow was security of iii-http-functions';
    this.#edits.push({ path: ['outgoing', 'allow'], value, note, isWarning: false });
  }

  #rename({ path, name }: ForeignEntry, word: string): void {
    if (word === name) return;
    const hasClass = at(this.#root, [...path, 'name']) === undefined;
    this.#edits.push({ path: [...path, 'name'], value: name, note: `was ${word}`, isWarning: false });
    if (hasClass) this.#edits.push({ path: [...path, 'class'], note: '', isWarning: false });
  }

  /** Releases with modules of their own for logs and traces: their settings belong to one entry here. */
  #joins(entry: ForeignEntry, word: string): boolean {
    const whole = this.#observability;
    if (whole === undefined || whole.path.join() === entry.path.join() || !isPartOfObservability(word)) return false;
    const target = this.#at(whole.path, 'svc-observability');
    for (const key of ['level', 'format']) {
      if (entry.has(key) && !target.has(key)) {
        target.set([key], entry.written(key), { note: `${key} was a setting of ${word}` });
      }
    }
    entry.remove({ note: `${word} is a part of svc-observability` });
    return true;
  }

  #exec(entry: ForeignEntry, word: string): void {
    this.#execs++;
    const name = this.#execs === 1 ? 'exec' : `exec-${this.#execs}`;
    const watched = entry.has('watch') ? '. svc start does not restart it when a file changes; svc dev does' : '';
    entry.replace(
      { name, path: '.', scripts: { start: startCommand(entry) } },
      { note: `${word} is a worker that the engine starts and supervises${watched}`, isWarning: watched !== '' },
    );
  }
}
