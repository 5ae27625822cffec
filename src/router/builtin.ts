// What the router needs of the parts that live inside the engine: functions it can run here, and trigger types it
// can bind here. Modules implement these.

import type { Access } from '../core/access.ts';
import type { Executor } from '../core/executor.ts';
import type { OpenSpan } from '../core/telemetry/span-rows.ts';
import type { TriggerBinding, TriggerTypeFacts } from '../core/trigger-table.ts';
import type { Payload } from '../protocol/payload.ts';
import type { Outcome } from './reply.ts';
import type { Session } from './session.ts';

/** A function that runs inside the engine. Throws a `Refusal` to answer with an error of its own code. */
export interface BuiltinDefinition {
  readonly id: string;
  readonly description: string;
  handle(payload: unknown, call: BuiltinCall): unknown;
}

/**
 * A function that runs inside the engine and takes payloads as they came: for values that the router's thread must
 * neither parse nor print (decisions 19). It answers through `done`, exactly once, in a later turn, with payloads that
 * are valid until `done` returns; it throws a `Refusal` to answer at once with an error.
 */
export interface RawBuiltinDefinition {
  readonly id: string;
  readonly description: string;
  handleRaw(payload: Payload | undefined, call: BuiltinCall, done: (outcome: Outcome) => void): void;
}

export type AnyBuiltin = BuiltinDefinition | RawBuiltinDefinition;

/** Where in a chain of calls something stands, handed on to whatever it causes. */
export interface Cause {
  /** How deep: what it causes stands as deep; 0 for causes from outside (I8). */
  readonly depth: number;
  /** The trace it belongs to, and the span above; absent: what it causes begins a trace of its own. */
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
}

/** Who called a built-in function. Told out of band: the payload is the user's alone (decisions 8). */
export interface BuiltinCall extends Cause {
  /** The connection that called; `undefined` when the call came from inside the engine. */
  readonly callerWorkerId: string | undefined;
  /** What the caller may reach; `undefined`: everything. It is shown nothing else, and nothing else is done for it. */
  readonly rights: Access | undefined;
  /** As it came, for values that are handed on: parsed and printed again, they would lose digits. */
  readonly sent: Payload | undefined;
  /** Its span, for what only the function can say of the call; absent: none is kept. */
  readonly span?: OpenSpan | undefined;
}

/** A function bound to a trigger type, as the router keeps it. The same object from `bound` to `unbound`. */
export type Binding = TriggerBinding<Session>;

export interface ModuleTriggerType {
  readonly id: string;
  readonly facts: TriggerTypeFacts;
  /**
   * Why a binding with this config cannot be accepted, in words; `undefined` accepts it. A type that takes a
   * `condition_function_id` lets the key pass: the router checks what stands in it.
   */
  refuse(config: unknown): string | undefined;
  /** A binding was accepted; `config` is its config, parsed. */
  bound?(binding: Binding, config: unknown): void;
  /** What lists show of a binding beside what all have: when it is due next. */
  details?(binding: Binding): Readonly<Record<string, unknown>>;
  /** What a binding would bring now, when somebody fires it by hand without saying with what. */
  sample?(binding: Binding, nowMs: number): unknown;
  /** A binding that was `bound` is gone, whichever way: taken back, replaced, or its connection ended. */
  unbound?(binding: Binding): void;
}

/** Stands for the engine itself where a call needs an executor: a built-in function that takes its time. */
export class ModuleExecutor implements Executor {
  readonly inFlightMax = Number.POSITIVE_INFINITY;
  readonly isAccepting = true;
  inFlight = 0;
}
