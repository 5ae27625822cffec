// The text of a file of `iii` in the form of this engine.

import { readDocument } from '../document.ts';
import { isNameAmong } from '../load.ts';
import type { ModuleCatalogue } from '../module-entries.ts';
import { type Environment, expandPlaceholders } from '../placeholders.ts';
import type { ConfigProblem } from '../problem.ts';
import { rewrite } from './rewrite.ts';
import { translateForeign } from './translate.ts';

export type Converted =
  | { readonly ok: true; readonly text: string; readonly notes: readonly string[] }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

interface ConvertSource extends ModuleCatalogue {
  readonly text: string;
  readonly file: string;
  readonly env: Environment;
}

/** Placeholders stay as they are. A file that is one of this engine already is returned unchanged. */
export function convertForeign({ text, file, env, ...catalogue }: ConvertSource): Converted {
  const read = readDocument(text, file);
  if (!read.ok) return read;
  const { value, entryAt } = read.document;
  const expanded = expandPlaceholders(value, env, (path) => entryAt(path).isQuoted);
  const edits = translateForeign(expanded.value, value, isNameAmong(catalogue));
  if (edits.length === 0) return { ok: true, text, notes: [] };
  return { ok: true, text: rewrite(text, edits), notes: edits.flatMap(({ note }) => (note === '' ? [] : [note])) };
}
