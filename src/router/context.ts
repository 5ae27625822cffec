// What the verbs of the router share: the tables, the outside world, and the settings.

import type { KeptRights, PortPolicies } from '../core/access/kept-rights.ts';
import type { Reservations } from '../core/access/reservations.ts';
import type { CallTable } from '../core/calls/call-table.ts';
import type { CompactPayloads } from '../core/calls/compact-payloads.ts';
import type { Pressure } from '../core/limits/pressure.ts';
import type { EnqueueAnswer, EnqueueRules } from '../core/queue/shapes.ts';
import type { Counters } from '../core/registry/counters.ts';
import type { FunctionTable } from '../core/registry/function-table.ts';
import type { TriggerTable } from '../core/registry/trigger-table.ts';
import type { QuietMarks } from '../core/telemetry/logs/quiet.ts';
import type { Collector } from '../core/telemetry/spans/collector.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { OutgoingClient } from '../effects/outgoing.ts';
import type { Random } from '../effects/random.ts';
import type { EnqueueAction, TriggerOrigin } from '../protocol/frames/frames.ts';
import type { RawJson } from '../protocol/json/byte-string.ts';
import type { Payload } from '../protocol/payload/payload.ts';
import type { AnyBuiltin, ModuleExecutor, ModuleTriggerType } from './builtin.ts';
import type { PayloadGate } from './calls/payload-gate.ts';
import type { Outcome } from './calls/reply.ts';
import type { Channels } from './channels/channels.ts';
import type { IdClaims } from './restricted/id-claims.ts';
import type { Session } from './session/session.ts';

/** A call that started inside the engine; its outcome is passed to a function and not sent to a connection. */
export interface LocalCaller {
  settle(outcome: Outcome): void;
}

export type Caller = Session | LocalCaller;

export interface RouterSettings {
  /** Answer as `iii` does wherever the engine's own behaviour differs (PD-1). */
  readonly isDropIn: boolean;
  readonly inFlightMax: number;
  readonly outboundBytesMax: number;
  /** Whether log lines may quote data of users (X22). */
  readonly logPayloads: boolean;
  /** The mark that several engines share for traces of log triggers; absent: each engine has a key of its own. */
  readonly markKey?: string | undefined;
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
  /** The queue of a trigger that names one; a text: why there is none. */
  target(queue: string): JobTarget | string;
  /** Another module wrote this number of jobs of the queue into its store. */
  jobsCame(queue: string, jobs: number): void;
}

/** Why a queue cannot have those rules; `undefined`: it can. */
export type QueueJudge = (queue: string, rules: EnqueueRules) => string | undefined;

export interface RouterContext {
  readonly settings: RouterSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly pressure: Pressure;
  readonly functions: FunctionTable<Session, AnyBuiltin>;
  readonly triggers: TriggerTable<Session, ModuleTriggerType>;
  /** Names that trusted connections have used: no restricted connection may take them. */
  readonly reservations: Reservations;
  readonly calls: CallTable<Session | ModuleExecutor, Caller>;
  readonly moduleExecutor: ModuleExecutor;
  readonly sessions: Map<string, Session>;
  /** What the restricted ports allow, for work on behalf of connections that have left. */
  readonly portPolicies: PortPolicies;
  readonly channels: Channels;
  readonly compact: CompactPayloads;
  readonly payloadGate: PayloadGate;
  /** Requests to addresses that users configured (X16 to X18). */
  readonly outgoing: OutgoingClient;
  /** The engine's own environment, which holds the secrets of functions that are a URL. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Callers that wait for a provider's verdict on a binding, by trigger id. */
  readonly verdicts: Map<string, (error: RawJson | undefined) => void>;
  /** Reports events to the engine's own trigger types; see `router/registrations/announcements.ts`. */
  /** Registrations of restricted connections that wait until another one has released the id. */
  readonly triggerClaims: IdClaims;
  readonly typeClaims: IdClaims;
  readonly announce: Announcements;
  readonly startedAtMs: number;
  /** Knows which work a log trigger caused. */
  readonly quietMarks: QuietMarks;
  /** Receives everything that happens; `undefined` while nothing is observed. */
  observer: Collector | undefined;
  /** `undefined` without a queue module. */
  jobTaker: JobTaker | undefined;
  /** Called, soon after, when functions came or went. */
  readonly functionListeners: Set<() => void>;
  /** Called when queues came or went, or their rules changed. */
  readonly queueListeners: Set<() => void>;
  /** The modules that have triggers that name queues. */
  readonly queueJudges: Set<QueueJudge>;
  /** How often a worker came, left, or identified itself. */
  workerChanges: number;
  isDraining: boolean;
  /** The drain is over: no call is handed out any more, because no answer would be sent. */
  isStopped: boolean;
}

export interface Announcements {
  functionsChanged(): void;
  /** `depth`: the depth of the cause in its chain of calls; 0 for causes from outside. */
  workerEvent(event: WorkerEvent, workerId: string, depth?: number): void;
}

export type WorkerEvent = 'worker_connected' | 'worker_disconnected' | 'worker_metadata_updated';
