// How a worker defines triggers and trigger types, and the handles it gets for them.

import type { Target } from '../calls/call-types.ts';
import type { JsonSchema } from '../functions/schema.ts';
import type { LogTrigger, StateTrigger, StreamTrigger } from './data-triggers.ts';
import type { CronTrigger, EventTrigger, HttpMethod, HttpTriggerOptions } from './trigger-kinds.ts';

/**
 * The configuration of the engine's own trigger types. The compiler checks the `config` of a trigger against it.
 *
 * @example
 * import type { TriggerConfigs } from 'svc-sdk';
 *
 * const config: TriggerConfigs['http'] = { api_path: '/orders', http_method: 'POST' };
 * console.log(config.api_path);
 */
export interface TriggerConfigs {
  readonly http: HttpTriggerOptions & { readonly api_path: string; readonly http_method?: HttpMethod | undefined };
  readonly cron: CronTrigger['config'];
  readonly event: EventTrigger['config'];
  readonly state: StateTrigger['config'];
  readonly stream: StreamTrigger['config'];
  readonly log: LogTrigger['config'];
}

/**
 * The definition of a trigger: an event source and a function.
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
export interface TriggerDefinition<Type extends string = string> {
  /** `http`, `cron`, `state`, … or a type that a worker provides. */
  readonly type: Type;
  /** The function to call. It need not exist yet. */
  readonly function_id: Target;
  /** The configuration for the type: see the page of the type. */
  readonly config?: Type extends keyof TriggerConfigs ? TriggerConfigs[Type] : unknown;
  /** Passed to the function as `metadata` whenever this trigger fires. */
  readonly metadata?: unknown;
}

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
