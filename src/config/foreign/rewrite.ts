// Writes the changes into the text of a file. What is not changed stays as its owner wrote it, with comments; each
// change is explained in a comment above the entry that it belongs to.

import { type Document, isMap, isNode, isSeq, type Node, parseDocument, type YAMLSeq } from 'yaml';
import type { Path } from '../../core/config-fields/fields-check.ts';
import type { Edit } from './edits.ts';

const COMMENT_CHARS = 100;

/** The text must be one that `composeYaml` accepts. */
export function rewrite(text: string, edits: readonly Edit[]): string {
  const document = parseDocument(text, { version: '1.2', schema: 'core', keepSourceTokens: false });
  const removed: Path[] = [];
  for (const edit of edits) {
    const { path } = edit;
    if (Object.hasOwn(edit, 'value')) setIn(document, path, edit.value);
    else if (path.length === 2 && isListed(path)) removed.push(path);
    else document.deleteIn(path);
  }
  for (const [path, notes] of notesByPlace(edits)) explain(document, path, notes);
  // From the end, so that the places of the others hold.
  for (const path of removed.sort((one, other) => Number(other[1]) - Number(one[1]))) remove(document, path);
  return document.toString({ flowCollectionPadding: false, lineWidth: 0 });
}

const isListed = ([list]: Path): boolean => list === 'workers' || list === 'modules';

function setIn(document: Document, path: Path, value: unknown): void {
  const list = document.get(path[0]);
  // A name stays where the class was, and not after the settings.
  if (path.at(-1) === 'name') {
    const entry = document.getIn(path.slice(0, -1));
    if (isMap(entry) && !entry.has('name')) {
      entry.items.unshift(document.createPair('name', value));
      return;
    }
  }
  if (path.length === 2 && isListed(path) && !isSeq(list)) document.set(path[0], document.createNode([]));
  if (path.length === 1 && isMap(document.contents) && !document.contents.has(path[0])) {
    document.contents.items.unshift(document.createPair(path[0], value));
    return;
  }
  document.setIn(path, document.createNode(value));
}

/** The notes of an entry together; the others belong to the top of the file. */
function notesByPlace(edits: readonly Edit[]): Map<Path | undefined, string[]> {
  const places = new Map<string, { readonly path: Path | undefined; readonly notes: string[] }>();
  for (const { path, note } of edits) {
    if (note === '') continue;
    const place = isListed(path) ? path.slice(0, 2) : undefined;
    const key = place?.join('/') ?? '';
    const known = places.get(key) ?? { path: place, notes: [] };
    known.notes.push(note);
    places.set(key, known);
  }
  return new Map([...places.values()].map(({ path, notes }) => [path, notes]));
}

function explain(document: Document, path: Path | undefined, notes: readonly string[]): void {
  const text = notes.flatMap((note) => commentLines(note)).join('\n');
  if (path === undefined) document.commentBefore = [document.commentBefore, text].filter(Boolean).join('\n');
  else addAbove(document.getIn(path), text);
}

function addAbove(node: unknown, text: string): void {
  if (!isNode(node)) return;
  node.commentBefore = [node.commentBefore, text].filter(Boolean).join('\n');
}

/** Its comments belong to the entry after it from then on, or to the end of the list. */
function remove(document: Document, [list = '', index = 0]: Path): void {
  const entries = document.get(list);
  if (!isSeq(entries)) return;
  const [entry] = entries.items.splice(Number(index), 1);
  const text = isNode(entry) ? (entry.commentBefore ?? '') : '';
  const next = entries.items[Number(index)];
  if (isNode(next)) putAbove(next, text);
  else putAtEnd(entries, text);
}

function putAbove(node: Node, text: string): void {
  node.commentBefore = [text, node.commentBefore].filter(Boolean).join('\n');
}

function putAtEnd(list: YAMLSeq, text: string): void {
  list.comment = [text, list.comment].filter(Boolean).join('\n');
}

/** Lines of a comment, each with the blank that follows `#`. */
function commentLines(note: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of `svc: ${note}`.split(' ')) {
    if (line !== '' && line.length + word.length >= COMMENT_CHARS) {
      lines.push(line);
      line = '    ';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}
