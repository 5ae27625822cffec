// What the router needs of the parts that live inside the engine: functions it can run here, and trigger types it
// can bind here. Modules implement these.

import type { Executor } from '../core/executor.ts';
import type { TriggerTypeFacts } from '../core/trigger-table.ts';

/** A function that runs inside the engine. Throws a `Refusal` to answer with an error of its own code. */
export interface BuiltinDefinition {
  readonly id: string;
  readonly description: string;
  handle(payload: unknown, call: BuiltinCall): unknown;
}

/** Who called a built-in function. Told out of band: the payload is the user's alone (decisions 8). */
export interface BuiltinCall {
  /** The connection that called; `undefined` when the call came from inside the engine. */
  readonly callerWorkerId: string | undefined;
  /** How deep in a chain of calls this one stands: what it causes stands as deep (I8). */
  readonly depth: number;
}

export interface ModuleTriggerType {
  readonly id: string;
  readonly facts: TriggerTypeFacts;
  /** Why a binding with this config cannot be accepted, in words; `undefined` accepts it. */
  refuse(config: unknown): string | undefined;
}

/** Stands for the engine itself where a call needs an executor: a built-in function that takes its time. */
export class ModuleExecutor implements Executor {
  readonly generation = 0;
  readonly inFlightMax = Number.POSITIVE_INFINITY;
  readonly isAccepting = true;
  inFlight = 0;
}
