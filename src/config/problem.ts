// A problem of the configuration: where it is, what it says, and the excerpt of the file that it points at. A file
// contains secrets, and errors are logged (X22), so an excerpt shows only the key and value in question. For a file
// that could not be parsed, it shows the line without anything that follows a secret key.

import type { Path } from '../core/config-fields/fields-check.ts';
import { isAddressKey, isSecretKey, REDACTED, redactUrl } from '../core/config-fields/redaction.ts';

/** A problem of the configuration, at its position in the file. */
export interface ConfigProblem {
  /** As the user named it. */
  readonly file: string;
  /** From 1; 0 when the problem concerns the file as a whole. */
  readonly line: number;
  /** From 1, in UTF-16 units; 0 like `line`. */
  readonly column: number;
  /** `workers[1].config.port`; empty for the root. */
  readonly path: string;
  readonly message: string;
  /** The line of the file with a caret below it, without secrets; empty if there is nothing to show. */
  readonly excerpt: string;
}

/** `file:line:column: path: message`, followed by the excerpt. */
export function formatProblem({ file, line, column, path, message, excerpt }: ConfigProblem): string {
  const position = line === 0 ? file : `${file}:${line}:${column}`;
  const head = [position, path, message].filter((part) => part !== '').join(': ');
  return excerpt === '' ? head : `${head}\n${excerpt}`;
}

/** A problem without a line: the file cannot be read or parsed. */
export function fileProblem(file: string, message: string): ConfigProblem {
  return { file, line: 0, column: 0, path: '', message, excerpt: '' };
}

export function formatPath(path: Path): string {
  return path.reduce<string>((before, step) => {
    if (typeof step === 'number') return `${before}[${step}]`;
    if (!/^[\w-]{1,200}$/.test(step)) return `${before}[${shortened(JSON.stringify(step))}]`;
    return before === '' ? step : `${before}.${step}`;
  }, '');
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where one entry of a map or list lies in the text. */
export interface EntrySpans {
  /** Items of lists have no key. */
  readonly key: Span | undefined;
  readonly content: Span;
  readonly isScalar: boolean;
}

/** The entry, with a caret under `point`, which is the start of its key or of its value. */
export function drawEntry(
  text: string,
  { key, content, isScalar }: EntrySpans,
  point: number,
  isHidden: boolean,
): string {
  const lineStart = text.lastIndexOf('\n', point - 1) + 1;
  const entryStart = Math.max(key?.start ?? content.start, lineStart);
  const lead = text.slice(lineStart, entryStart);
  const before = (/^[\s-]*$/.test(lead) ? lead : '') + text.slice(entryStart, point);
  if (point === key?.start) return draw(`${before}${firstLine(text.slice(key.start, key.end))}:`, before.length);
  if (!isScalar) return draw(`${before}…`, before.length);
  const shown = isHidden ? REDACTED : firstLine(text.slice(content.start, content.end));
  return draw(before + (shown.includes('://') ? redactUrl(shown) : shown), before.length);
}

/** The line of a file with broken syntax, with a caret at the offset. */
export function drawBrokenLine(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const line = firstLine(text.slice(lineStart));
  const secretStart = findSecret(text.slice(0, lineStart), line);
  const shown = secretStart < 0 ? line : `${line.slice(0, secretStart)} ${REDACTED}`;
  return draw(shown, Math.min(offset - lineStart, shown.length));
}

const EXCERPT_CHARS_MAX = 100;

function draw(line: string, caret: number): string {
  // Tabs would move the caret, and other control characters would affect the terminal.
  const clean = line.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ').trimEnd();
  const skipped = Math.max(0, caret - EXCERPT_CHARS_MAX / 2);
  const shown = clean.slice(skipped, skipped + EXCERPT_CHARS_MAX);
  return `    ${shown}\n    ${' '.repeat(caret - skipped)}^`;
}

function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : text.slice(0, end);
}

/**
 * Where a secret begins in a line, or -1. Without a syntax tree this uses the text: a secret extends from its key to
 * the next line that begins an entry and is not indented further.
 */
function findSecret(textBefore: string, line: string): number {
  let secretIndent = -1;
  for (const earlier of textBefore.split('\n')) {
    if (secretIndent >= 0 && beginsEntry(earlier) && indentOf(earlier) <= secretIndent) secretIndent = -1;
    if (secretIndent < 0 && secretKeyEnd(earlier) >= 0) secretIndent = indentOf(earlier);
  }
  const isInside = secretIndent >= 0 && !(beginsEntry(line) && indentOf(line) <= secretIndent);
  return isInside ? 0 : secretKeyEnd(line);
}

function secretKeyEnd(line: string): number {
  for (let colon = line.indexOf(':'); colon >= 0; colon = line.indexOf(':', colon + 1)) {
    const name = wordBefore(line, colon);
    if (isSecretKey(name) || isAddressKey(name)) return colon + 1;
  }
  return -1;
}

/** Long enough for any key; it limits the work on one very long line. */
const NAME_CHARS_MAX = 200;

function wordBefore(line: string, colon: number): string {
  let end = colon;
  while (end > 0 && /[\s"']/.test(line.charAt(end - 1))) end -= 1;
  let start = end;
  while (start > 0 && end - start < NAME_CHARS_MAX && /[\w.-]/.test(line.charAt(start - 1))) start -= 1;
  return line.slice(start, end);
}

function beginsEntry(line: string): boolean {
  return /^\s*(-\s|-$|["']?[\w.-]+["']?\s*:)/.test(line.slice(0, NAME_CHARS_MAX));
}

function indentOf(line: string): number {
  return line.search(/[^\s-]/);
}
