// The path pattern of a registered route: `/users/:id`.

/** One segment between two slashes: a fixed text, or a parameter with a name. */
export interface RouteSegment {
  readonly text: string;
  readonly isParameter: boolean;
}

export interface RoutePattern {
  /** As registered, with the leading slash. */
  readonly text: string;
  readonly segments: readonly RouteSegment[];
  readonly parameters: readonly string[];
  /** Equal for two patterns that match the same paths, whatever the names of their parameters. */
  readonly shape: string;
}

export type ParsedPattern =
  | { readonly ok: true; readonly pattern: RoutePattern }
  | { readonly ok: false; readonly reason: string };

const CHARS_MAX = 1024;
const SEGMENTS_MAX = 64;
const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
/** Characters that have a meaning in other routers: refused, because users would expect that meaning. */
const RESERVED = /[*{}?#:\\]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const UNPRINTABLE = /[\x00-\x20\x7f]/;

export function parseRoutePattern(path: string): ParsedPattern {
  const text = path.startsWith('/') ? path : `/${path}`;
  if (text.length > CHARS_MAX) return bad(`has ${text.length} characters; the limit is ${CHARS_MAX}`);
  const parts = text.slice(1).split('/');
  if (parts.length > SEGMENTS_MAX) return bad(`has ${parts.length} segments; the limit is ${SEGMENTS_MAX}`);
  const segments: RouteSegment[] = [];
  for (const [at, part] of parts.entries()) {
    if (part === '' && at < parts.length - 1) return bad('has an empty segment (two slashes in a row)');
    const segment = parseSegment(part);
    if (typeof segment === 'string') return bad(segment);
    segments.push(segment);
  }
  const parameters = segments.filter(({ isParameter }) => isParameter).map(({ text: name }) => name);
  const repeated = parameters.find((name, at) => parameters.indexOf(name) !== at);
  if (repeated !== undefined) return bad(`has two parameters with the name :${repeated}`);
  const shape = segments.map(({ isParameter, text: own }) => (isParameter ? ':' : encodeURIComponent(own))).join('/');
  return { ok: true, pattern: { text, segments, parameters, shape } };
}

/** A segment of a request's path; `undefined`: an escape is malformed. */
export function decodeSegment(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    // It throws only for this.
    return undefined;
  }
}

function parseSegment(part: string): RouteSegment | string {
  if (part.startsWith(':')) {
    const name = part.slice(1);
    if (PARAMETER_NAME.test(name)) return { text: name, isParameter: true };
    return `has a parameter '${part}': a name is a letter, then letters, digits, '_' and '-'`;
  }
  const strange = RESERVED.exec(part)?.[0];
  if (strange !== undefined) {
    const rule = 'a parameter is a whole segment, :name, and there are no wildcards';
    return `has '${strange}' in the segment '${part}': ${rule}`;
  }
  if (UNPRINTABLE.test(part)) return 'has a blank or a control character';
  const text = decodeSegment(part);
  return text === undefined ? `has a malformed escape in the segment '${part}'` : { text, isParameter: false };
}

function bad(reason: string): ParsedPattern {
  return { ok: false, reason };
}
