// Workers as the pure tables see them, each with a number.

import type { Executor } from '../../../src/core/calls/select-worker.ts';

export interface NumberedExecutor extends Executor {
  readonly number: number;
}

export function newExecutor(number: number, state: Partial<Executor> = {}): NumberedExecutor {
  return { inFlight: 0, inFlightMax: 1000, isAccepting: true, ...state, number };
}
