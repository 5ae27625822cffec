// Finds the entry for a method and a path, at a cost that does not grow with the number of patterns: one step for each
// segment of the path, and none for patterns without parameters.
//
// In every position a fixed segment has priority over a parameter, for patterns of the requested method.

import { decodeSegment, type RoutePattern } from './route-pattern.ts';

interface Node<T> {
  readonly byText: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  readonly byMethod: Map<string, T>;
}

export class RouteTrie<T> {
  readonly #root: Node<T> = emptyNode();
  /** Paths without parameters, as a request without escapes writes them. */
  readonly #fixed = new Map<string, Node<T>>();
  /** The parameter values of the last find, in order. Overwritten by the next one. */
  readonly values: string[] = [];

  set(method: string, pattern: RoutePattern, value: T): void {
    let node = this.#root;
    for (const { text, isParameter } of pattern.segments) node = isParameter ? parameterOf(node) : childOf(node, text);
    node.byMethod.set(method, value);
    const key = fixedKey(pattern);
    if (key !== undefined) this.#fixed.set(key, node);
  }

  get(method: string, pattern: RoutePattern): T | undefined {
    return this.#nodeOf(pattern)?.byMethod.get(method);
  }

  delete(method: string, pattern: RoutePattern): void {
    this.#nodeOf(pattern)?.byMethod.delete(method);
    prune(this.#root, pattern, 0);
    const key = fixedKey(pattern);
    if (key !== undefined && this.#nodeOf(pattern) === undefined) this.#fixed.delete(key);
  }

  /** Its parameters are in `values`. A malformed escape in the path matches nothing. */
  find(method: string, path: string): T | undefined {
    const found = this.#fixed.get(path)?.byMethod.get(method);
    return found ?? this.#walk(this.#root, method, path, 1, 0);
  }

  /** The methods that have an entry at this path. */
  methodsAt(path: string): string[] {
    const methods = new Set<string>();
    collectMethods(this.#root, path, 1, methods);
    return [...methods].sort();
  }

  #walk(node: Node<T>, method: string, path: string, start: number, parameters: number): T | undefined {
    const slash = path.indexOf('/', start);
    const segment = decodeSegment(slash < 0 ? path.slice(start) : path.slice(start, slash));
    if (segment === undefined) return undefined;
    const written = node.byText.get(segment);
    const found = written && this.#below(written, method, path, slash, parameters);
    if (found !== undefined) return found;
    const { parameter } = node;
    if (parameter === undefined || segment === '') return undefined;
    const behind = this.#below(parameter, method, path, slash, parameters + 1);
    if (behind !== undefined) this.values[parameters] = segment;
    return behind;
  }

  #below(node: Node<T>, method: string, path: string, slash: number, parameters: number): T | undefined {
    return slash < 0 ? node.byMethod.get(method) : this.#walk(node, method, path, slash + 1, parameters);
  }

  #nodeOf(pattern: RoutePattern): Node<T> | undefined {
    let node: Node<T> | undefined = this.#root;
    for (const { text, isParameter } of pattern.segments) node = isParameter ? node?.parameter : node?.byText.get(text);
    return node;
  }
}

function emptyNode<T>(): Node<T> {
  return { byText: new Map(), parameter: undefined, byMethod: new Map() };
}

function childOf<T>(node: Node<T>, text: string): Node<T> {
  const known = node.byText.get(text);
  if (known !== undefined) return known;
  const made = emptyNode<T>();
  node.byText.set(text, made);
  return made;
}

function parameterOf<T>(node: Node<T>): Node<T> {
  node.parameter ??= emptyNode<T>();
  return node.parameter;
}

/** A path with escapes is decoded first. */
function fixedKey({ segments }: RoutePattern): string | undefined {
  if (segments.some(({ isParameter, text }) => isParameter || /[%/]/.test(text))) return undefined;
  return `/${segments.map(({ text }) => text).join('/')}`;
}

/** Removes branches without entries. Returns whether this node is one. */
function prune<T>(node: Node<T>, pattern: RoutePattern, depth: number): boolean {
  const segment = pattern.segments[depth];
  if (segment !== undefined) {
    const child = segment.isParameter ? node.parameter : node.byText.get(segment.text);
    if (child !== undefined && prune(child, pattern, depth + 1)) {
      if (segment.isParameter) node.parameter = undefined;
      else node.byText.delete(segment.text);
    }
  }
  return node.byMethod.size === 0 && node.byText.size === 0 && node.parameter === undefined;
}

function collectMethods<T>(node: Node<T>, path: string, start: number, into: Set<string>): void {
  const slash = path.indexOf('/', start);
  const segment = decodeSegment(slash < 0 ? path.slice(start) : path.slice(start, slash));
  if (segment === undefined) return;
  for (const next of [node.byText.get(segment), segment === '' ? undefined : node.parameter]) {
    if (next === undefined) continue;
    if (slash >= 0) collectMethods(next, path, slash + 1, into);
    else for (const method of next.byMethod.keys()) into.add(method);
  }
}
