// Which routes exist, and which of several owners has one.
//
// Job: keep routes right in whatever order their owners come and leave.
// Neighbours: `route-trie.ts` finds; the HTTP module stores its compiled bindings here as `B`.
// States of a route:
//   held       it has owners, and the newest of them is called          the last one leaves → withdrawn;
//              or removes it → gone
//   withdrawn  it has no owner; it is remembered for `WITHDRAWN_MS`      a worker registers it → held; time → gone
// Invariants:
//   - The newest owner has the route; when it leaves, the one before it gets it back (H1, PD-26).
//   - An owner that leaves removes only its own registration (H1).
//   - No two routes that are held match the same paths under different parameter names (H2).

import type { RoutePattern } from './route-pattern.ts';
import { RouteTrie } from './route-trie.ts';

export interface Route<B> {
  readonly method: string;
  readonly pattern: RoutePattern;
  /** Oldest first; the last one is called. */
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

  /** The route that conflicts with a new one: it matches the same paths under different parameter names. */
  conflict(method: string, pattern: RoutePattern): Route<B> | undefined {
    const known = this.#trie.get(method, pattern);
    return known === undefined || known.owners.length === 0 || known.pattern.text === pattern.text ? undefined : known;
  }

  /** The owner has the route from now on. Returns the previous owner. */
  add(method: string, pattern: RoutePattern, owner: B): B | undefined {
    const known = this.#trie.get(method, pattern);
    if (known !== undefined && known.pattern.text === pattern.text) {
      const before = known.owners.at(-1);
      known.owners.push(owner);
      known.withdrawnMs = undefined;
      this.#ofOwner.set(owner, known);
      return before;
    }
    if (known !== undefined) this.#forget(known);
    const route: Route<B> = { method, pattern, owners: [owner], withdrawnMs: undefined };
    this.#routes.add(route);
    this.#ofOwner.set(owner, route);
    this.#trie.set(method, pattern, route);
    return undefined;
  }

  /**
   * The owner left at that moment and may return; without a moment it removed the route. Returns the present owner of
   * the route; `undefined` also where that owner did not have it.
   */
  remove(owner: B, leftMs: number | undefined): B | undefined {
    const route = this.#ofOwner.get(owner);
    if (route === undefined) return undefined;
    this.#ofOwner.delete(owner);
    const at = route.owners.indexOf(owner);
    const wasAsked = at === route.owners.length - 1;
    route.owners.splice(at, 1);
    if (route.owners.length === 0) {
      if (leftMs === undefined) this.#forget(route);
      else route.withdrawnMs = leftMs;
    }
    return wasAsked ? route.owners.at(-1) : undefined;
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

  #forget(route: Route<B>): void {
    this.#routes.delete(route);
    this.#trie.delete(route.method, route.pattern);
  }
}
