// What the router needs of the parts that live inside the engine: functions it can run here, trigger types it can bind
// here, and where jobs go. Modules implement these.

import type { Access } from '../core/access/access.ts';
import type { KeptRights } from '../core/access/kept-rights.ts';
import { Refusal } from '../core/calls/refusal.ts';
import type { Executor } from '../core/calls/select-worker.ts';
import type { EnqueueAnswer, EnqueueRules } from '../core/queue/shapes.ts';
import type { BuiltinFunction } from '../core/registry/function-table.ts';
import type { TriggerBinding, TriggerTypeSpec } from '../core/registry/trigger-table.ts';
import type { OpenSpan } from '../core/telemetry/spans/span-rows.ts';
import type { EnqueueAction, TriggerOrigin } from '../protocol/frames/frames.ts';
import type { RawJson } from '../protocol/json/byte-string.ts';
import type { Payload } from '../protocol/payload/payload.ts';
import type { Outcome } from './calls/call.ts';
import type { PayloadLimits } from './calls/payload-size-check.ts';
import type { RemoteEngine } from './remote/remote-engine.ts';
import type { RemoteOwner } from './remote/remote-owner.ts';
import type { Session } from './session/session.ts';

/** What lists show of a function that runs inside the engine. */
interface BuiltinFacts {
  readonly id: string;
  readonly description: string;
  /** JSON schemas; absent: not described. */
  readonly requestFormat?: RawJson;
  readonly responseFormat?: RawJson;
  /** Rules about metadata see it too. */
  readonly metadata?: RawJson;
}

/** A function that runs inside the engine. Throws a `Refusal` to answer with an error of its own code. */
export interface BuiltinDefinition extends BuiltinFacts {
  /** Limits of the payload, checked before it is parsed. Absent: only the limits of frames apply. */
  readonly payloadLimits?: PayloadLimits;
  handle(payload: unknown, call: BuiltinCall): unknown;
}

/**
 * A function that runs inside the engine and takes its payload as bytes: for values that the router's thread must
 * neither parse nor print (PD-19). It answers through `done`, exactly once, in a later turn, with payloads that are
 * valid until `done` returns. It throws a `Refusal` to answer at once with an error.
 */
export interface RawBuiltinDefinition extends BuiltinFacts {
  handleRaw(payload: Payload | undefined, call: BuiltinCall, done: (outcome: Outcome) => void): void;
}

/** A function of the engine that another router of this process runs. */
export interface ForwardedBuiltin extends BuiltinFacts {
  readonly home: RemoteEngine;
  /** What this router answers when another one asks it. */
  readonly local: BuiltinDefinition | RawBuiltinDefinition | undefined;
}

export type AnyBuiltin = BuiltinDefinition | RawBuiltinDefinition | ForwardedBuiltin;

/** Its entry in the table of functions. */
export function builtinEntry(module: string, handler: AnyBuiltin): BuiltinFunction<AnyBuiltin> {
  const { id, description, requestFormat, responseFormat, metadata } = handler;
  const spec = { description, requestFormat, responseFormat, metadata };
  return { kind: 'builtin', id, module, spec, handler };
}

/** The place of a call, job or event in its chain of calls. What it causes gets this context. */
export interface Cause {
  /** The depth in the chain, which is also the depth of what it causes. 0 for causes from outside (I8). */
  readonly depth: number;
  /** The trace it belongs to, and the parent span. Absent: what it causes starts a new trace. */
  readonly traceparent?: string | undefined;
  readonly baggage?: string | undefined;
}

/**
 * The caller of a built-in function. It is passed next to the payload, because the payload belongs to the user (PD-8).
 */
export interface BuiltinCall extends Cause {
  /** The connection that called; `undefined` when the call came from inside the engine. */
  readonly callerWorkerId: string | undefined;
  /** The name that it gave itself, or its id. */
  readonly callerName: string | undefined;
  /** What the caller may reach; `undefined`: everything. The function shows and does nothing outside it. */
  readonly rights: Access | undefined;
  /** Another engine of the cluster asks. */
  readonly isRelayed?: true | undefined;
  /** The payload as it came, for values that are passed on: parsing and printing would lose digits. */
  readonly sent: Payload | undefined;
  /** The span of the call, for attributes that only the function knows. Absent: no span is kept. */
  readonly span?: OpenSpan | undefined;
}

/** For functions that a restricted connection must not call, even where its port exposes them. */
export function assertTrusted(functionId: string, { rights }: Pick<BuiltinCall, 'rights'>): void {
  if (rights !== undefined) throw new Refusal('FORBIDDEN', `${functionId} is for trusted connections only`);
}

/** A function bound to a trigger type, as the router keeps it. The same object from `bound` to `unbound`. */
export type Binding = TriggerBinding<TriggerOwner>;

/** A connection, or one of another engine of the cluster. */
export type TriggerOwner = Session | RemoteOwner;

/** Why a binding is gone: its owner removed it, its owner disconnected, or the provider of its type disconnected. */
export type Removal = 'taken_back' | 'left';

export interface ModuleTriggerType {
  readonly id: string;
  readonly spec: TriggerTypeSpec;
  /** Every router thread has the module, and knows all its triggers. */
  readonly isOnEveryRouter?: true;
  /**
   * Why a binding with this config is refused, in words; `undefined` accepts it. A type that supports
   * `condition_function_id` accepts the key: the router checks its value. `binding`: for checks that depend on its
   * owner or function.
   */
  refuse(config: unknown, binding: Binding): string | undefined;
  /** A binding was accepted. `config` is its parsed config. */
  bound?(binding: Binding, config: unknown): void;
  /** What lists show of a binding in addition to the common fields: when it fires next. */
  details?(binding: Binding): Readonly<Record<string, unknown>>;
  /** The payload of a firing that a person starts by hand without giving one. */
  sample?(binding: Binding, nowMs: number): unknown;
  /** The order of a binding that was `bound` has changed. */
  reordered?(binding: Binding): void;
  /** A binding that was `bound` is gone: removed, replaced, or its connection ended. */
  unbound?(binding: Binding, removal: Removal): void;
}

/** Represents the engine where a call needs an executor: a built-in function that answers later. */
export class ModuleExecutor implements Executor {
  readonly inFlightMax = Number.POSITIVE_INFINITY;
  readonly isAccepting = true;
  inFlight = 0;
}

/** A call that is to be delivered through a queue. */
export interface JobRequest {
  readonly functionId: string;
  /** Valid until `take` returns. */
  readonly payload: Payload | undefined;
  readonly metadata: RawJson | undefined;
  readonly traceparent: string | undefined;
  readonly baggage: string | undefined;
  readonly action: EnqueueAction;
  /** The trigger that made it, and the condition that is asked before each attempt. */
  readonly trigger?: TriggerOrigin | undefined;
  readonly conditionFunctionId?: string | undefined;
  /** Rights of the connection that enqueued it or registered its trigger; absent: it may do everything. */
  readonly rights?: KeptRights | undefined;
  /** Its idempotency key names no job of another scope; absent: that of the engine and of trusted connections. */
  readonly keyScope?: string | undefined;
}

/** A queue as described to modules that write its jobs together with what caused them. */
export interface JobTarget {
  /** The store that holds its jobs; `undefined`: not a store of this machine. */
  readonly store: object | undefined;
  readonly rules: EnqueueRules;
  readonly payloadBytesMax: number;
}

/** Where calls with the action `enqueue` go: the queue module. */
export interface JobTaker {
  /** Calls `done` once, at once or later: with a receipt only when the job is durable (Q1). */
  take(job: JobRequest, done: (answer: EnqueueAnswer) => void): void;
  /** Names where all its jobs are, for all engines that work on them; `undefined`: they end with this engine. */
  readonly place: string | undefined;
  /** The queue of a trigger that names one; a text: why there is none. */
  target(queue: string): JobTarget | string;
  /** Another module wrote this number of jobs of the queue into its store. */
  jobsCame(queue: string, jobs: number): void;
}

/** Why a queue cannot have those rules; `undefined`: it can. */
export type QueueJudge = (queue: string, rules: EnqueueRules) => string | undefined;
