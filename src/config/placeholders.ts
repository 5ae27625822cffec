// `${NAME}` and `${NAME:default}` in the scalars of a parsed file. Expanding after parsing keeps a variable from
// adding structure to the file, whatever it holds (X21).

import { type FieldProblem, isMap, type Path, quote } from '../core/config-fields/fields-check.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Expanded {
  readonly value: unknown;
  readonly problems: readonly FieldProblem[];
}

/** The limit of what all placeholders of a file insert together: one long variable can be named many times. */
export const EXPANSION_CHARS_MAX = 1024 * 1024;

/**
 * The value with every placeholder expanded. A plain scalar that is exactly one placeholder gets the type that YAML
 * would give to the text. `isQuoted` marks a scalar written in quotes or as a block: it stays text.
 */
export function expandPlaceholders(value: unknown, env: Environment, isQuoted: (path: Path) => boolean): Expanded {
  const expansion: Expansion = { env, isQuoted, problems: [], insertedChars: 0 };
  return { value: expandBelow(value, [], expansion), problems: expansion.problems };
}

/** The variables that a text names. */
export function placeholderNames(text: string): readonly string[] {
  return piecesOf(text).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.name]));
}

/** The type of a plain scalar by the core schema of YAML 1.2. */
export function typeScalar(text: string): string | number | boolean | null {
  const plain = text.trim();
  if (/^(|~|null|Null|NULL)$/.test(plain)) return null;
  if (/^(true|True|TRUE)$/.test(plain)) return true;
  if (/^(false|False|FALSE)$/.test(plain)) return false;
  if (/^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$/.test(plain)) return Number(plain);
  // Number() accepts the prefixes 0o and 0x; the core schema allows no sign before them.
  if (/^(0o[0-7]+|0x[0-9a-fA-F]+)$/.test(plain)) return Number(plain);
  if (/^[-+]?\.(inf|Inf|INF)$/.test(plain)) return plain.startsWith('-') ? -Infinity : Infinity;
  return /^\.(nan|NaN|NAN)$/.test(plain) ? Number.NaN : text;
}

interface Expansion {
  readonly env: Environment;
  readonly isQuoted: (path: Path) => boolean;
  readonly problems: FieldProblem[];
  insertedChars: number;
}

interface Placeholder {
  readonly name: string;
  readonly byDefault: string | undefined;
}

function expandBelow(value: unknown, path: Path, expansion: Expansion): unknown {
  if (typeof value === 'string') return expandText(value, path, expansion);
  if (Array.isArray(value)) return value.map((item: unknown, index) => expandBelow(item, [...path, index], expansion));
  if (!isMap(value)) return value;
  const expanded: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) expanded[key] = expandBelow(item, [...path, key], expansion);
  return expanded;
}

function expandText(text: string, path: Path, expansion: Expansion): unknown {
  const pieces = piecesOf(text);
  if (pieces.every((piece) => typeof piece === 'string')) return text;
  const expanded = pieces.map((piece) => (typeof piece === 'string' ? piece : lookUp(piece, path, expansion))).join('');
  return pieces.length === 1 && !expansion.isQuoted(path) ? typeScalar(expanded) : expanded;
}

function lookUp({ name, byDefault }: Placeholder, path: Path, expansion: Expansion): string {
  const value = (Object.hasOwn(expansion.env, name) ? expansion.env[name] : undefined) ?? byDefault;
  if (value === undefined) {
    const message =
      `The environment variable ${quote(name)} is not set and the placeholder has no default. ` +
      `Set it, or write a default: \${${name}:value}.`;
    expansion.problems.push({ path, at: 'value', message });
    return '';
  }
  const isOver = expansion.insertedChars > EXPANSION_CHARS_MAX;
  expansion.insertedChars += value.length;
  if (expansion.insertedChars <= EXPANSION_CHARS_MAX) return value;
  const message = `The placeholders of the file insert more than ${EXPANSION_CHARS_MAX} characters together.`;
  if (!isOver) expansion.problems.push({ path, at: 'value', message });
  return '';
}

/** Literal text and placeholders in turn. An incomplete placeholder is literal text. */
function piecesOf(text: string): readonly (string | Placeholder)[] {
  const pieces: (string | Placeholder)[] = [];
  let literal = '';
  let position = 0;
  for (;;) {
    const start = text.indexOf('${', position);
    const end = start < 0 ? -1 : text.indexOf('}', start);
    if (end < 0) break;
    const inside = text.slice(start + 2, end);
    const colon = inside.indexOf(':');
    const name = colon < 0 ? inside : inside.slice(0, colon);
    literal += text.slice(position, name === '' ? end + 1 : start);
    position = end + 1;
    if (name === '') continue;
    if (literal !== '') pieces.push(literal);
    literal = '';
    pieces.push({ name, byDefault: colon < 0 ? undefined : inside.slice(colon + 1) });
  }
  literal += text.slice(position);
  if (literal !== '') pieces.push(literal);
  return pieces;
}
