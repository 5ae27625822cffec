// `useFunction`: calls of one function, and the state of the last one.

import type { CallArguments, PayloadOf, ResultOf, Target, Untyped } from '../../sdk/calls/call-types.ts';
import type { FunctionId } from '../../sdk/functions/functions.ts';
import type { SvcWorker } from '../../sdk/worker/svc-worker.ts';
import { missingWorker, useSvc } from './provider.ts';
import { asError, useView, View } from './view.ts';

/**
 * A function to call, and the state of its last call.
 *
 * @example
 * import type { FunctionCall } from 'svc-browser-sdk/react';
 *
 * export const label = ({ status }: FunctionCall<void, string>): string => (status === 'pending' ? '…' : 'Again');
 */
export interface FunctionCall<In, Out> extends CallState<Out> {
  /** Calls it. A failure is also in `error`, so it need not be caught. It stays the same from render to render. */
  readonly call: (...given: CallArguments<In, undefined>) => Promise<Out>;
  /** Returns to `idle`. A call that is running continues, and is not shown any more. */
  readonly reset: () => void;
}

interface CallState<Out> {
  /** Of the last call: an earlier one that ends later is not shown. */
  readonly status: 'idle' | 'pending' | 'done' | 'failed';
  /** The result of the last call that succeeded; it stays while another one is running. */
  readonly data: Out | undefined;
  readonly error: Error | undefined;
}

/**
 * Calls of one function. Nothing is called until `call` is.
 *
 * @example
 * import { createElement } from 'react';
 * import { useFunction } from 'svc-browser-sdk/react';
 *
 * export function Order({ sku }: { sku: string }) {
 *   const { call, status, data, error } = useFunction<{ sku: string }, { id: string }>('orders::create');
 *   const onClick = () => call({ sku });
 *   return createElement('button', { onClick, disabled: status === 'pending' }, error?.message ?? data?.id ?? 'Order');
 * }
 */
export function useFunction<const T extends Target>(target: T): FunctionCall<PayloadOf<T>, ResultOf<T>>;
export function useFunction<In, Out>(target: FunctionId): FunctionCall<In, Out>;
export function useFunction(target: Target): FunctionCall<unknown, Untyped> {
  const svc = useSvc();
  const id = typeof target === 'string' ? target : target.id;
  const [state, { call, reset }] = useView(() => new Calls(svc, id), [svc, id]);
  return { ...state, call, reset };
}

const IDLE: CallState<Untyped> = { status: 'idle', data: undefined, error: undefined };

class Calls extends View<CallState<Untyped>> {
  readonly #svc: SvcWorker | undefined;
  readonly #functionId: string;
  #state = IDLE;
  /** Number of the last call. */
  #last = 0;

  constructor(svc: SvcWorker | undefined, functionId: string) {
    super(IDLE);
    this.#svc = svc;
    this.#functionId = functionId;
  }

  readonly call: FunctionCall<unknown, Untyped>['call'] = (payload, options) => {
    this.#last += 1;
    const mine = this.#last;
    const { data } = this.#state;
    this.#show({ status: 'pending', data, error: undefined });
    const outcome = this.#begin(payload, options);
    const showIfLast = (state: CallState<Untyped>): void => {
      if (mine === this.#last) this.#show(state);
    };
    outcome.then(
      (result) => showIfLast({ status: 'done', data: result, error: undefined }),
      (thrown: unknown) => showIfLast({ status: 'failed', data, error: asError(thrown) }),
    );
    return outcome;
  };

  readonly reset = (): void => {
    this.#last += 1;
    this.#show(IDLE);
  };

  async #begin(...[payload, options]: CallArguments<unknown, undefined>): Promise<Untyped> {
    if (this.#svc === undefined) throw missingWorker(this.#functionId);
    return await this.#svc.trigger({ ...options, function_id: this.#functionId, payload });
  }

  #show(state: CallState<Untyped>): void {
    this.#state = state;
    this.show(() => state);
  }
}
