// The routes of the port, and the trigger type that they come from.
//
// Neighbours: `core/route-table.ts` keeps them right; the router tells of bindings that come and go.

import { type Route, RouteTable } from '../../core/route-table.ts';
import type { Clock } from '../../effects/clock.ts';
import type { Logger } from '../../effects/logger.ts';
import type { Binding, ModuleTriggerType } from '../../router/builtin.ts';
import { bindingOf, HTTP_TRIGGER_FACTS, type HttpBinding, readHttpTrigger, withoutTrailingSlash } from './trigger.ts';

export interface HttpRoutesParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ignoresTrailingSlash: boolean;
  /** Paths of the engine's own that a route takes over. */
  readonly ownPaths: readonly string[];
}

export class HttpRoutes {
  readonly triggerType: ModuleTriggerType;
  readonly #parts: HttpRoutesParts;
  readonly #table = new RouteTable<HttpBinding>();
  readonly #byBinding = new Map<Binding, HttpBinding>();

  constructor(parts: HttpRoutesParts) {
    this.#parts = parts;
    this.triggerType = {
      id: 'http',
      facts: HTTP_TRIGGER_FACTS,
      refuse: (config) => this.#refuse(config),
      bound: (binding, config) => this.#bound(binding, config),
      unbound: (binding) => this.#unbound(binding),
    };
  }

  /** HEAD is answered by the route of GET where there is none of its own. The values of parameters are in `values`. */
  find(method: string, path: string): Route<HttpBinding> | undefined {
    const own = this.#parts.ignoresTrailingSlash ? withoutTrailingSlash(path) : path;
    const found = this.#table.find(method, own);
    return found === undefined && method === 'HEAD' ? this.#table.find('GET', own) : found;
  }

  get values(): readonly string[] {
    return this.#table.values;
  }

  /** As the header `Allow` wants them. */
  methodsAt(path: string): string[] {
    const methods = this.#table.methodsAt(this.#parts.ignoresTrailingSlash ? withoutTrailingSlash(path) : path);
    return methods.includes('GET') && !methods.includes('HEAD') ? [...methods, 'HEAD'].sort() : methods;
  }

  all(): Iterable<Route<HttpBinding>> {
    return this.#table.routes();
  }

  /** Forgets what was withdrawn long enough ago. */
  prune(): void {
    this.#table.prune(this.#parts.clock.monotonicMs());
  }

  #refuse(config: unknown): string | undefined {
    const trigger = readHttpTrigger(config, this.#parts.ignoresTrailingSlash);
    if (!trigger.ok) return trigger.reason;
    const { method, pattern } = trigger;
    const known = this.#table.conflict(method, pattern);
    if (known === undefined) return undefined;
    const owner = known.owners.at(-1)?.functionId;
    return (
      `${method} ${pattern.text} matches the same paths as ${known.method} ${known.pattern.text}, which is bound to ` +
      `${owner}: their parameters must have the same names`
    );
  }

  #bound(binding: Binding, config: unknown): void {
    const trigger = readHttpTrigger(config, this.#parts.ignoresTrailingSlash);
    if (!trigger.ok) throw new Error(`A refused http trigger was bound: ${trigger.reason}`);
    const own = bindingOf(binding, trigger);
    this.#byBinding.set(binding, own);
    const before = this.#table.add(trigger.method, trigger.pattern, own);
    if (before?.binding !== undefined) before.binding.isDisplaced = !isSame(before.binding, binding);
    if (!this.#parts.ownPaths.includes(trigger.pattern.text)) return;
    this.#parts.logger.warn('A route takes over a path of the engine', { path: trigger.pattern.text });
  }

  #unbound(binding: Binding): void {
    const own = this.#byBinding.get(binding);
    if (own === undefined) return;
    this.#byBinding.delete(binding);
    const next = this.#table.remove(own, this.#parts.clock.monotonicMs());
    if (next?.binding !== undefined) next.binding.isDisplaced = false;
  }
}

/** Replicas of one worker bind the same thing: then none of them is displaced (decisions 26). */
function isSame(one: Binding, other: Binding): boolean {
  return (
    one.owner !== other.owner &&
    one.functionId === other.functionId &&
    one.config === other.config &&
    one.metadata === other.metadata
  );
}
