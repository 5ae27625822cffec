// The routes of the port, and the trigger type that they come from.
//
// Routes of trusted connections and those of restricted ones are kept apart: a request goes to a restricted connection
// only if no trusted one has, or had, a route for it. So neither an equal route nor a more specific one ever takes a
// request, with its credentials, from a trusted worker, even while that worker is away.
// Neighbours: `core/routing/route-table.ts` keeps them consistent; the router reports added and removed bindings.

import type { ReservationChange, Reservations } from '../../core/access/reservations.ts';
import { parseRoutePattern, type RoutePattern } from '../../core/routing/route-pattern.ts';
import { type Route, RouteTable, RouteTrie } from '../../core/routing/route-table.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { Binding, ModuleTriggerType, Removal } from '../../router/builtin.ts';
import type { RouterPort } from '../../router/port.ts';
import { isConsolePath, isSeedInvoke } from './console-paths.ts';
import {
  bindingOf,
  HTTP_TRIGGER_SPEC,
  type HttpBinding,
  type HttpTrigger,
  readHttpTrigger,
  withoutTrailingSlash,
} from './trigger.ts';

export interface HttpRoutesOptions {
  readonly router: Pick<RouterPort, 'reserve' | 'isDropIn'> & {
    readonly reservations: Pick<Reservations, 'all' | 'has' | 'onChange'>;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ignoresTrailingSlash: boolean;
  /** Paths of the engine that a route may replace. */
  readonly ownPaths: readonly string[];
}

export class HttpRoutes {
  readonly triggerType: ModuleTriggerType;
  readonly #options: HttpRoutesOptions;
  readonly #trusted = new RouteTable<HttpBinding>(orderOf);
  readonly #restricted = new RouteTable<HttpBinding>(orderOf);
  /** Every route that a trusted connection has or had, with its names: one may be spelt in several ways. */
  readonly #reserved = new RouteTrie<Set<string>>();
  readonly #byBinding = new Map<Binding, HttpBinding>();
  readonly #stopWatching: () => void;
  /** The table of the last successful lookup. */
  #found = this.#trusted;

  constructor(options: HttpRoutesOptions) {
    this.#options = options;
    this.triggerType = {
      id: 'http',
      spec: HTTP_TRIGGER_SPEC,
      isOnEveryRouter: true,
      refuse: (config, binding) => this.#refuse(config, binding),
      bound: (binding, config) => this.#bound(binding, config),
      reordered: (binding) => this.#reordered(binding),
      unbound: (binding, removal) => this.#unbound(binding, removal),
    };
    for (const reservation of options.router.reservations.all())
      this.#reservationChanged({ ...reservation, isReserved: true });
    this.#stopWatching = options.router.reservations.onChange((change) => this.#reservationChanged(change));
  }

  stop(): void {
    this.#stopWatching();
  }

  /** HEAD is answered by the route of GET if it has no route of its own. The values of parameters are in `values`. */
  find(method: string, path: string): Route<HttpBinding> | undefined {
    const own = this.#options.ignoresTrailingSlash ? withoutTrailingSlash(path) : path;
    this.#found = this.#trusted;
    const found = findIn(this.#trusted, method, own);
    if (found !== undefined || this.#restricted.isEmpty) return found;
    if (this.#isTaken(method, own)) return undefined;
    this.#found = this.#restricted;
    return findIn(this.#restricted, method, own);
  }

  /** A route for exactly these paths: one such as `/:name/status` never takes requests from the console (T10). */
  findOfConsole(method: string, path: string): Route<HttpBinding> | undefined {
    const route = this.find(method, path);
    return route !== undefined && isConsolePath(route.pattern.text) ? route : undefined;
  }

  get values(): readonly string[] {
    return this.#found.values;
  }

  /** In the form of the header `Allow`. */
  methodsAt(path: string): string[] {
    const own = this.#options.ignoresTrailingSlash ? withoutTrailingSlash(path) : path;
    const restricted = this.#restricted.methodsAt(own).filter((method) => !this.#isTaken(method, own));
    const methods = [...new Set([...this.#trusted.methodsAt(own), ...restricted])].sort();
    return methods.includes('GET') && !methods.includes('HEAD') ? [...methods, 'HEAD'].sort() : methods;
  }

  *all(): Iterable<Route<HttpBinding>> {
    yield* this.#trusted.routes();
    yield* this.#restricted.routes();
  }

  /** Removes routes that were withdrawn long enough ago. */
  prune(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#trusted.prune(nowMs);
    this.#restricted.prune(nowMs);
  }

  /** Whether no restricted connection may answer here. An answer to OPTIONS speaks for all methods of the path. */
  #isTaken(method: string, path: string): boolean {
    if (this.#options.ownPaths.includes(path) || this.#reserved.find(method, path) !== undefined) return true;
    if (method === 'HEAD') return this.#reserved.find('GET', path) !== undefined;
    return method === 'OPTIONS' && this.#reserved.methodsAt(path).length > 0;
  }

  #reservationChanged({ kind, name, isReserved }: ReservationChange): void {
    const route = kind === 'route' ? routeOf(name, this.#options.ignoresTrailingSlash) : undefined;
    if (route === undefined) return;
    const { method, pattern } = route;
    const names = this.#reserved.get(method, pattern) ?? new Set<string>();
    if (isReserved) this.#reserved.set(method, pattern, names.add(name));
    else if (names.delete(name) && names.size === 0) this.#reserved.delete(method, pattern);
  }

  #tableOf({ owner }: Binding): RouteTable<HttpBinding> {
    return owner?.access === undefined ? this.#trusted : this.#restricted;
  }

  #read(config: unknown, { owner }: Binding): HttpTrigger {
    const { ignoresTrailingSlash, router } = this.#options;
    const acceptsConsoleRoutes = router.isDropIn && owner !== undefined && owner.access === undefined;
    return readHttpTrigger(config, { ignoresTrailingSlash, acceptsConsoleRoutes });
  }

  #refuse(config: unknown, binding: Binding): string | undefined {
    const trigger = this.#read(config, binding);
    if (!trigger.ok) return trigger.reason;
    const { method, pattern } = trigger;
    const isOfTrusted =
      binding.owner?.access !== undefined &&
      (this.#reserved.get(method, pattern) !== undefined || this.#options.ownPaths.includes(pattern.text));
    if (isOfTrusted) return `${method} ${pattern.text} belongs to the engine or to a trusted worker`;
    const known = this.#tableOf(binding).conflict(method, pattern);
    if (known === undefined) return undefined;
    const owner = known.owners.at(-1)?.functionId;
    const route = `${known.method} ${known.pattern.text}`;
    // Clients of `iii` look for these words.
    const words = this.#options.router.isDropIn ? `conflicts with already-registered route ${route}` : undefined;
    return (
      `${method} ${pattern.text} ${words ?? `matches the same paths as ${route}`}, which is bound to ${owner}: their ` +
      'parameters must have the same names'
    );
  }

  #bound(binding: Binding, config: unknown): void {
    const trigger = this.#read(config, binding);
    if (!trigger.ok) throw new Error(`A refused http trigger was bound: ${trigger.reason}`);
    const { method, pattern } = trigger;
    // The engine's own route has it.
    if (isConsolePath(pattern.text) && isSeedInvoke(pattern.text)) {
      binding.isDisplaced = true;
      return;
    }
    const own = bindingOf(binding, trigger);
    this.#byBinding.set(binding, own);
    const table = this.#tableOf(binding);
    judge(table.add(method, pattern, own));
    if (table === this.#trusted) this.#reserve(method, pattern);
    if (!this.#options.ownPaths.includes(pattern.text)) return;
    this.#options.logger.warn('A route replaces a path of the engine', { path: pattern.text });
  }

  #reserve(method: string, pattern: RoutePattern): void {
    this.#options.router.reserve('route', `${method} ${pattern.text}`);
    for (const { binding } of this.#restricted.ownersOf(method, pattern)) if (binding) binding.isDisplaced = true;
  }

  #unbound(binding: Binding, removal: Removal): void {
    const own = this.#byBinding.get(binding);
    if (own === undefined) return;
    this.#byBinding.delete(binding);
    const leftMs = removal === 'left' ? this.#options.clock.monotonicMs() : undefined;
    judge(this.#tableOf(binding).remove(own, leftMs));
    // Used until now.
    if (binding.owner?.access === undefined) this.#options.router.reserve('route', own.operation);
  }

  #reordered(binding: Binding): void {
    const own = this.#byBinding.get(binding);
    if (own !== undefined) judge(this.#tableOf(binding).reorder(own));
  }
}

/** In a cluster, triggers have one order on all engines. */
function orderOf({ binding }: HttpBinding): number {
  return binding?.order ?? Number.POSITIVE_INFINITY;
}

/** The last owner has the route, and so have its replicas. */
function judge(owners: readonly HttpBinding[]): void {
  const holder = owners.at(-1)?.binding;
  for (const { binding } of owners) {
    if (binding !== undefined) binding.isDisplaced = binding !== holder && !isSame(binding, holder);
  }
}

function findIn(table: RouteTable<HttpBinding>, method: string, path: string): Route<HttpBinding> | undefined {
  const found = table.find(method, path);
  return found === undefined && method === 'HEAD' ? table.find('GET', path) : found;
}

/**
 * Parses the name that `#reserve` wrote; `undefined`: an engine of another version wrote it, with other rules for
 * paths.
 */
function routeOf(
  name: string,
  ignoresTrailingSlash: boolean,
): { readonly method: string; readonly pattern: RoutePattern } | undefined {
  const space = name.indexOf(' ');
  const path = name.slice(space + 1);
  const parsed = parseRoutePattern(ignoresTrailingSlash ? withoutTrailingSlash(path) : path);
  return parsed.ok ? { method: name.slice(0, space), pattern: parsed.pattern } : undefined;
}

/** Replicas of one worker bind the same route: then none of them is replaced (PD-26). */
function isSame(one: Binding, other: Binding | undefined): boolean {
  return (
    other !== undefined &&
    one.owner !== other.owner &&
    one.functionId === other.functionId &&
    one.settings === other.settings &&
    one.metadata === other.metadata
  );
}
