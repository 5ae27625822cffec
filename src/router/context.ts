// What the verbs of the router share: the tables, the outside world, and the settings they go by.

import type { CallTable } from '../core/call-table.ts';
import type { Counters } from '../core/counters.ts';
import type { FunctionTable } from '../core/function-table.ts';
import type { KeptRights, PortPolicies } from '../core/kept-rights.ts';
import type { Pressure } from '../core/pressure.ts';
import type { EnqueueAnswer, EnqueueRules } from '../core/queue/shapes.ts';
import type { Collector } from '../core/telemetry/collector.ts';
import type { TriggerTable } from '../core/trigger-table.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { OutgoingClient } from '../effects/outgoing.ts';
import type { Random } from '../effects/random.ts';
import type { RawJson } from '../protocol/byte-string.ts';
import type { EnqueueAction, TriggerOrigin } from '../protocol/frames.ts';
import type { Payload } from '../protocol/payload.ts';
import type { AnyBuiltin, ModuleExecutor, ModuleTriggerType } from './builtin.ts';
import type { Channels } from './channels.ts';
import type { CompactPayloads } from './compact-payloads.ts';
import type { Outcome } from './reply.ts';
import type { Session } from './session.ts';

/** A call that began inside the engine; told the outcome instead of being sent it. */
export interface LocalCaller {
  settle(outcome: Outcome): void;
}

export type Caller = Session | LocalCaller;

export interface RouterSettings {
  /** Answer as the peer does wherever our own behaviour differs (decisions 1). */
  readonly isDropIn: boolean;
  readonly inFlightMax: number;
  readonly outboundBytesMax: number;
  /** Whether log lines may quote what users sent (X22). */
  readonly logPayloads: boolean;
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
  /** The trigger that made it, and what is asked before each attempt. */
  readonly trigger?: TriggerOrigin | undefined;
  readonly conditionFunctionId?: string | undefined;
  /** Of whoever registered the trigger; absent: it may do everything. */
  readonly rights?: KeptRights | undefined;
}

/** A queue as those must know it that write its jobs together with what caused them. */
export interface JobTarget {
  /** The store that its jobs lie in; `undefined`: none of this machine. */
  readonly store: object | undefined;
  readonly rules: EnqueueRules;
  readonly payloadBytesMax: number;
}

/** Where calls with the action `enqueue` go: the queue module. */
export interface JobTaker {
  /** Calls `done` once, at once or later: with a receipt only when the job is durable (Q1). */
  take(job: JobRequest, done: (answer: EnqueueAnswer) => void): void;
  /** Where jobs of triggers go that name the queue; a text: why they cannot. */
  target(queue: string): JobTarget | string;
  /** Somebody else wrote so many jobs of the queue into its store. */
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
  readonly calls: CallTable<Session | ModuleExecutor, Caller>;
  readonly moduleExecutor: ModuleExecutor;
  readonly sessions: Map<string, Session>;
  /** What the ports for browsers allow, for what is done on behalf of those who left. */
  readonly portPolicies: PortPolicies;
  readonly channels: Channels;
  readonly compact: CompactPayloads;
  /** Requests to where users told the engine to send them (X16 to X18). */
  readonly outgoing: OutgoingClient;
  /** The engine's own environment: secrets of functions that are a URL stand there, by name. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Who waits for a provider's verdict on a binding, by trigger id. */
  readonly verdicts: Map<string, (error: RawJson | undefined) => void>;
  /** Tells the engine's own trigger types what happened; see `router/announcements.ts`. */
  readonly announce: Announcements;
  readonly startedAtMs: number;
  /** Told of everything that happens; `undefined` while nothing is observed. */
  observer: Collector | undefined;
  /** `undefined` without a queue module. */
  jobTaker: JobTaker | undefined;
  /** Told, soon after, that functions came or went. */
  readonly functionListeners: Set<() => void>;
  /** Told that queues came or went, or have other rules. */
  readonly queueListeners: Set<() => void>;
  /** Whoever has triggers that name queues. */
  readonly queueJudges: Set<QueueJudge>;
  /** How often a worker came, left, or told who it is. */
  workerChanges: number;
  isDraining: boolean;
  /** The drain is over: nothing is handed out any more, as nobody would be answered. */
  isStopped: boolean;
}

export interface Announcements {
  functionsChanged(): void;
  /** `depth`: how deep in a chain of calls the cause stands; 0 for causes from outside. */
  workerEvent(event: WorkerEvent, workerId: string, depth?: number): void;
}

export type WorkerEvent = 'worker_connected' | 'worker_disconnected' | 'worker_metadata_updated';
