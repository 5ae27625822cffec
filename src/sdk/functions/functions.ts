// Types of functions (SDK-1), from weakest to strongest: unknown, explicit `<In, Out>`, a reference returned by
// `registerFunction`, an entry of the `Functions` registry. Types only; nothing runs here.

import type { Action, EnqueueCall, EnqueueReceipt, VoidCall } from '../calls/actions.ts';

/**
 * Functions known to the compiler, by id. Add your own, or let `svc types generate` do it: the editor then completes
 * ids, and the compiler checks payloads and knows the types of results.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 *
 * declare module 'svc-sdk' {
 *   interface Functions {
 *     'orders::create': { in: { sku: string }; out: { id: string } };
 *   }
 * }
 *
 * const svc = registerWorker();
 * const order = await svc.trigger({ function_id: 'orders::create', payload: { sku: 'a1' } });
 * console.log(order.id);
 */
// biome-ignore lint/suspicious/noEmptyInterface: users fill it by declaration merging, which a type alias cannot do.
export interface Functions {}

/**
 * Any function id; the editor completes the ones in `Functions`.
 *
 * @example
 * import type { FunctionId } from 'svc-sdk';
 *
 * export const target: FunctionId = 'orders::create';
 */
export type FunctionId = keyof Functions | (string & {});

/**
 * A function that carries its types. `registerFunction` returns one; `trigger` accepts one in place of an id.
 *
 * @example
 * import { registerWorker, type FunctionReference } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const create: FunctionReference<{ sku: string }, { id: string }> = { id: 'orders::create' };
 * const order = await svc.trigger({ function_id: create, payload: { sku: 'a1' } });
 * console.log(order.id);
 */
export interface FunctionReference<In, Out> {
  readonly id: string;
  /** Never present at run time: it only carries the types. */
  readonly '~types'?: { readonly in: In; readonly out: Out };
}

/**
 * What a call returns under the given delivery: the receipt when queued, `undefined` when not waited for, otherwise
 * the result.
 *
 * @example
 * import type { Answer, EnqueueCall } from 'svc-sdk';
 *
 * export const receiptOf = (answer: Answer<EnqueueCall, { id: string }>) => answer.messageReceiptId;
 */
export type Answer<A extends Action | undefined, Out> = A extends EnqueueCall
  ? EnqueueReceipt
  : A extends VoidCall
    ? undefined
    : Out;
