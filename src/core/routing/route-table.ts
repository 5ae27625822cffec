// Which routes exist, which of several owners has one, and which route a path matches.
//
// Job: keep routes right in whatever order their owners come and leave.
// Neighbours: the HTTP module stores its compiled bindings here as `B`.
// States of a route:
//   held       it has owners, and the newest of them is called          the last one leaves → withdrawn;
//              or removes it → gone
//   withdrawn  it has no owner; it is remembered for `WITHDRAWN_MS`      a worker registers it → held; time → gone
// Invariants:
//   - The newest owner has the route; when it leaves, the one before it gets it back (H1, PD-26).
//   - An owner that leaves removes only its own registration (H1).
//   - No two routes that are held match the same paths under different parameter names (H2).

import { decodeSegment, type RoutePattern } from './route-pattern.ts';

export interface Route<B> {
  readonly method: string;
  readonly pattern: RoutePattern;
  /** In their order; the last one is called. */
  readonly owners: B[];
  /** When the last owner left; `undefined` while there is one. */
  withdrawnMs: number | undefined;
}

/** How long a route without owners is answered for: a worker that restarts is back by then. */
export const WITHDRAWN_MS = 10_000;

export class RouteTable<B> {
  readonly #trie = new RouteTrie<Route<B>>();
  readonly #routes = new Set<Route<B>>();
  readonly #ofOwner = new Map<B, Route<B>>();
  readonly #orderOf: (owner: B) => number;

  /** `orderOf`: owners of a higher order are newer; of one order, those that came later. */
  constructor(orderOf: (owner: B) => number = () => 0) {
    this.#orderOf = orderOf;
  }

  /** The route that conflicts with a new one: it matches the same paths under different parameter names. */
  conflict(method: string, pattern: RoutePattern): Route<B> | undefined {
    const known = this.#trie.get(method, pattern);
    return known === undefined || known.owners.length === 0 || known.pattern.text === pattern.text ? undefined : known;
  }

  /** Returns all owners of the route. */
  add(method: string, pattern: RoutePattern, owner: B): readonly B[] {
    const known = this.#trie.get(method, pattern);
    if (known !== undefined && known.pattern.text === pattern.text) {
      this.#insert(known.owners, owner);
      known.withdrawnMs = undefined;
      this.#ofOwner.set(owner, known);
      return known.owners;
    }
    if (known !== undefined) this.#forget(known);
    const route: Route<B> = { method, pattern, owners: [owner], withdrawnMs: undefined };
    this.#routes.add(route);
    this.#ofOwner.set(owner, route);
    this.#trie.set(method, pattern, route);
    return route.owners;
  }

  /** The order of the owner has changed. Returns all owners of the route. */
  reorder(owner: B): readonly B[] {
    const owners = this.#ofOwner.get(owner)?.owners ?? [];
    const at = owners.indexOf(owner);
    if (at < 0) return [];
    owners.splice(at, 1);
    this.#insert(owners, owner);
    return owners;
  }

  /**
   * The owner left at that moment and may return; without a moment it removed the route. Returns the remaining owners.
   */
  remove(owner: B, leftMs: number | undefined): readonly B[] {
    const route = this.#ofOwner.get(owner);
    if (route === undefined) return [];
    this.#ofOwner.delete(owner);
    route.owners.splice(route.owners.indexOf(owner), 1);
    if (route.owners.length === 0) {
      if (leftMs === undefined) this.#forget(route);
      else route.withdrawnMs = leftMs;
    }
    return route.owners;
  }

  get isEmpty(): boolean {
    return this.#routes.size === 0;
  }

  ownersOf(method: string, pattern: RoutePattern): readonly B[] {
    return this.#trie.get(method, pattern)?.owners ?? [];
  }

  /** The values of its parameters are in `values`, until the next find. */
  find(method: string, path: string): Route<B> | undefined {
    return this.#trie.find(method, path);
  }

  get values(): readonly string[] {
    return this.#trie.values;
  }

  methodsAt(path: string): string[] {
    return this.#trie.methodsAt(path);
  }

  routes(): Iterable<Route<B>> {
    return this.#routes;
  }

  /** Forgets routes that were withdrawn long enough ago. */
  prune(nowMs: number): void {
    for (const route of this.#routes) {
      if (route.withdrawnMs !== undefined && nowMs - route.withdrawnMs >= WITHDRAWN_MS) this.#forget(route);
    }
  }

  #insert(owners: B[], owner: B): void {
    const order = this.#orderOf(owner);
    owners.splice(owners.findLastIndex((known) => this.#orderOf(known) <= order) + 1, 0, owner);
  }

  #forget(route: Route<B>): void {
    this.#routes.delete(route);
    this.#trie.delete(route.method, route.pattern);
  }
}

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
    const match = this.#below(parameter, method, path, slash, parameters + 1);
    if (match !== undefined) this.values[parameters] = segment;
    return match;
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
