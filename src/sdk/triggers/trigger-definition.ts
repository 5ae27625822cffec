// How a worker defines triggers and trigger types, and the handles it gets for them.

import type { Target, TargetField, Untyped } from '../calls/call-types.ts';
import type { FunctionReference } from '../functions/functions.ts';
import type { JsonSchema } from '../functions/schema.ts';
import type { HttpRequest } from './http-messages.ts';
import type { TriggerConfigs } from './trigger-configs.ts';

/**
 * The definition of a trigger: an event source and a function, which need not exist yet.
 *
 * @example
 * import { registerWorker, type TriggerDefinition } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const binding: TriggerDefinition = {
 *   type: 'http',
 *   function_id: 'orders::create',
 *   config: { api_path: '/orders', http_method: 'POST' },
 * };
 * svc.registerTrigger(binding);
 */
export type TriggerDefinition<Type extends string = string> = TargetField<Target> & {
  /** `http`, `cron`, `state`, … or a type that a worker provides, declared in `TriggerConfigs`. */
  readonly type: Type;
  /** The configuration for the type: see the page of the type. */
  readonly config?: Type extends keyof TriggerConfigs ? TriggerConfigs[Type] : unknown;
  /** Passed to the function as `metadata` whenever this trigger fires. */
  readonly metadata?: unknown;
};

/**
 * A trigger without its function, as `http`, `cron`, `event`, `onState`, `onStream`, `onQueue` and `onLog` return it.
 *
 * @example
 * import { cron, type FunctionTrigger, registerWorker } from 'svc-sdk';
 *
 * const nightly: FunctionTrigger = cron('0 3 * * *');
 * registerWorker().registerFunction('reports::build', { trigger: nightly }, () => ({ pages: 12 }));
 */
export interface FunctionTrigger<Type extends string = string> {
  readonly type: Type;
  readonly config?: unknown;
  readonly metadata?: unknown;
}

/**
 * A literal name must be known; a variable of type `string` may hold any. The rest of the union only makes the
 * compiler list the known names.
 */
export type KnownTriggerType<Type extends string> = string extends Type
  ? Type
  : Type extends keyof TriggerConfigs
    ? Type
    : keyof TriggerConfigs;

/** What a trigger of type `http` passes to its function; the type of the body is the handler's choice. */
type PassesRequest<In> = HttpRequest<Untyped> extends In ? unknown : HandlerOfRequest;

/** An http trigger passes a request, so that its handler must take an `HttpRequest`. */
interface HandlerOfRequest {
  readonly type: 'the handler of an http trigger takes an HttpRequest, with the payload in its body';
}

/** One trigger or several, of which those of type `http` need a handler that takes a request. */
export type FittingTrigger<T, In> = T extends readonly (infer Item)[]
  ? readonly FittingTrigger<Item, In>[]
  : T extends { readonly type: 'http' }
    ? T & PassesRequest<In>
    : T extends { readonly type: infer Type extends string }
      ? T & { readonly type: KnownTriggerType<Type> }
      : T;

/** A trigger with its function, as `registerTrigger` checks it. */
export type CheckedTrigger<Type extends string, T extends Target> = TargetField<FittingTarget<Type, T>> & {
  readonly type: KnownTriggerType<Type>;
  readonly config?: TriggerDefinition<Type>['config'];
  readonly metadata?: unknown;
};

type FittingTarget<Type extends string, T extends Target> = Type extends 'http'
  ? T extends FunctionReference<infer In, Untyped>
    ? HttpRequest<Untyped> extends In
      ? T
      : HandlerOfRequest
    : T
  : T;

/**
 * A trigger this worker registered.
 *
 * @example
 * import { registerWorker, type RegisteredTrigger } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const nightly: RegisteredTrigger = svc.registerTrigger({
 *   type: 'cron',
 *   function_id: 'reports::build',
 *   config: { expression: '0 3 * * *' },
 * });
 * await nightly.ready();
 * nightly.unregister();
 */
export interface RegisteredTrigger {
  /** Chosen by the SDK, the same after all reconnects. */
  readonly id: string;
  /**
   * Resolves when the engine has accepted the registration; rejects with the reason when it refuses. A type provided
   * by another worker, or a port for browsers that calls a function to decide, may refuse later: that arrives as event
   * `rejected`.
   */
  ready(): Promise<void>;
  unregister(): void;
}

/**
 * A trigger type that this worker provides.
 *
 * @example
 * import { registerWorker, type TriggerTypeDefinition } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const webhook: TriggerTypeDefinition = {
 *   id: 'webhook',
 *   description: 'Inbound webhook',
 *   trigger_request_format: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
 * };
 * svc.registerTriggerType(webhook, { registerTrigger() {}, unregisterTrigger() {} });
 */
export interface TriggerTypeDefinition {
  readonly id: string;
  readonly description: string;
  /** JSON Schema of a trigger's `config`. */
  readonly trigger_request_format?: JsonSchema | undefined;
  /** JSON Schema of the payload that bound functions receive. */
  readonly call_request_format?: JsonSchema | undefined;
}

/**
 * Adds and removes the triggers of a trigger type. To fire one, call its function with `svc.trigger`.
 *
 * @example
 * import { registerWorker, Void, type TriggerBinding, type TriggerTypeProvider } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const bindings = new Map<string, TriggerBinding>();
 * const provider: TriggerTypeProvider = {
 *   registerTrigger: (binding) => void bindings.set(binding.id, binding),
 *   unregisterTrigger: (binding) => void bindings.delete(binding.id),
 * };
 * svc.registerTriggerType({ id: 'tick', description: 'Once per second' }, provider);
 * setInterval(() => {
 *   for (const { function_id, metadata } of bindings.values()) {
 *     void svc.trigger({ function_id, payload: { at: Date.now() }, metadata, action: Void() });
 *   }
 * }, 1_000);
 */
export interface TriggerTypeProvider {
  /**
   * The trigger fires from now on. Throwing refuses it, with the error's message as the reason. The same id may come
   * again, also with another config: it replaces the earlier one.
   */
  registerTrigger(binding: TriggerBinding): void | PromiseLike<void>;
  /** The trigger must not fire any more. */
  unregisterTrigger(binding: TriggerBinding): void | PromiseLike<void>;
}

/**
 * One trigger of a trigger type that this worker provides.
 *
 * @example
 * import type { TriggerBinding } from 'svc-sdk';
 *
 * export const describe = (binding: TriggerBinding) => `${binding.id} calls ${binding.function_id}`;
 */
export interface TriggerBinding {
  readonly id: string;
  readonly type: string;
  /** The function to call when the event happens. */
  readonly function_id: string;
  readonly config: unknown;
  /** To be passed on with every call that this trigger causes. */
  readonly metadata: unknown;
}

/**
 * A trigger type this worker registered.
 *
 * @example
 * import { registerWorker, type RegisteredTriggerType } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const tick: RegisteredTriggerType = svc.registerTriggerType(
 *   { id: 'tick', description: 'Once per second' },
 *   { registerTrigger() {}, unregisterTrigger() {} },
 * );
 * tick.unregister();
 */
export interface RegisteredTriggerType {
  readonly id: string;
  /** Like that of a function: resolves when the engine has accepted it, rejects with the reason when it refuses. */
  ready(): Promise<void>;
  /** Withdraws the type. Its triggers stay with the engine and wait for the next provider. */
  unregister(): void;
}
