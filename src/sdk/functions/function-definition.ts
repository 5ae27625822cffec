// How a worker defines a function, and the handle it gets for it.

import type { Action } from '../calls/actions.ts';
import type { CallArguments } from '../calls/call-types.ts';
import type { FunctionTrigger } from '../triggers/trigger-definition.ts';
import type { Answer, FunctionReference } from './functions.ts';
import type { JsonSchema, Schema } from './schema.ts';

/**
 * The definition of a function. Description, schemas and metadata may take 64 KiB together.
 *
 * @example
 * import { registerWorker, type FunctionDefinition } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const definition: FunctionDefinition = {
 *   id: 'math::add',
 *   description: 'Adds two numbers',
 *   input: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } }, required: ['x', 'y'] },
 *   output: { type: 'number' },
 *   output_check: 'error',
 * };
 * svc.registerFunction(definition, ({ x, y }: { x: number; y: number }) => x + y);
 */
export interface FunctionDefinition<
  Id extends string = string,
  I extends Schema | undefined = JsonSchema | undefined,
  O extends Schema | undefined = JsonSchema | undefined,
> extends FunctionProperties<I, O> {
  /** 1 to 256 bytes without control characters; by convention, segments joined by `::`. */
  readonly id: Id;
  /** What calls it, besides direct calls: one trigger or several, withdrawn together with the function. */
  readonly trigger?: FunctionTrigger | readonly FunctionTrigger[] | undefined;
}

/** A definition without its id and its triggers. */
export interface FunctionProperties<I extends Schema | undefined, O extends Schema | undefined> {
  readonly description?: string | undefined;
  /** Payloads that violate it are answered with `BAD_REQUEST` and never reach the handler. */
  readonly input?: I;
  /** Results are checked against it; `output_check` says what happens when one violates it. */
  readonly output?: O;
  /** `warn` (default): log it and answer anyway, because the work is done. `error`: the call fails. */
  readonly output_check?: 'warn' | 'error' | undefined;
  /** JSON Schema for console and CLI, if `input` comes from a library that cannot produce one. */
  readonly request_format?: JsonSchema | undefined;
  /** The same for `output`. */
  readonly response_format?: JsonSchema | undefined;
  /** Free-form; access rules can refer to it, and `internal: true` hides the function from lists. */
  readonly metadata?: unknown;
}

/** A definition with schemas of any kind. */
export type AnyFunctionDefinition = FunctionDefinition<string, Schema | undefined, Schema | undefined>;

/**
 * A function that this worker offers. Pass it to `trigger` in place of an id, or call it directly.
 *
 * @example
 * import { registerWorker, type RegisteredFunction } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const double: RegisteredFunction<number, number> = svc.registerFunction('math::double', (n: number) => 2 * n);
 * await double.ready();
 * const six = await double.trigger(3);
 * console.log(six);
 * double.unregister();
 */
export interface RegisteredFunction<In, Out> extends FunctionReference<In, Out> {
  readonly id: string;
  /** Calls the function through the engine, on whichever worker offers it. */
  trigger<A extends Action | undefined = undefined>(...args: CallArguments<In, A>): Promise<Answer<A, Out>>;
  /**
   * Resolves when the engine has accepted the registration; rejects with the reason when it refuses. A port for
   * browsers that calls a function to decide may refuse later: that arrives as event `rejected`.
   */
  ready(): Promise<void>;
  /** Withdraws the function from this worker. Calls that have arrived are still answered. */
  unregister(): void;
}
