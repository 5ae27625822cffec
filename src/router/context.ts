// What the verbs of the router share: the tables, the outside world, the settings, and a call as they pass it on.

import type { Access } from '../core/access/access.ts';
import type { PortPolicies } from '../core/access/kept-rights.ts';
import type { Reservations } from '../core/access/reservations.ts';
import type { Call, CallTable } from '../core/calls/call-table.ts';
import type { CompactPayloads } from '../core/calls/compact-payloads.ts';
import type { WaitingCalls, WaitingLimits } from '../core/calls/waiting-calls.ts';
import type { WorkerCounts } from '../core/cluster/status.ts';
import type { SharedBytes } from '../core/limits/connection-counts.ts';
import type { Pressure } from '../core/limits/pressure.ts';
import type { Counters } from '../core/registry/counters.ts';
import type { FunctionTable, WorkerFunction } from '../core/registry/function-table.ts';
import type { TriggerTable } from '../core/registry/trigger-table.ts';
import type { QuietTraces } from '../core/telemetry/logs/quiet-traces.ts';
import type { Collector } from '../core/telemetry/spans/collector.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { OutgoingClient } from '../effects/outgoing.ts';
import type { Random } from '../effects/random.ts';
import type { RawJson } from '../protocol/json/byte-string.ts';
import type { MessagePackForm } from '../protocol/payload/message-pack.ts';
import type { AnyBuiltin, JobTaker, ModuleExecutor, ModuleTriggerType, QueueJudge, TriggerOwner } from './builtin.ts';
import type { CallerRef, CallOrder, LocalCaller } from './calls/call.ts';
import type { PayloadSizeCheck } from './calls/payload-size-check.ts';
import type { Channels } from './channels/channels.ts';
import type { ForwardedFor, OwnerElsewhere, RemoteEngine } from './remote/remote-engine.ts';
import type { IdClaims } from './restricted/id-claims.ts';
import type { PayloadShare } from './restricted/payload-share.ts';
import type { Session } from './session/session.ts';
import type { ForeignKeys } from './triggers/foreign-keys.ts';

export type Caller = Session | LocalCaller;

/** A function of workers, of this engine or of others. */
export type WorkerEntry = WorkerFunction<Session, RemoteEngine>;

/** Whose turn it is in a line: that of a connection, or of a kind of work of the engine, such as `http` or `queue`. */
export type WaitingOwner = Session | string;

/** A call to be made. Its `depth` is that of its caller (I8). */
export interface CallRequest extends CallOrder {
  /** The caller: shown to built-in functions, and counted against its limits. */
  readonly from: Session | undefined;
  /** What the connection it is made for may reach; `undefined`: everything. */
  readonly rights: Access | undefined;
  /**
   * Durable work of trusted origin: it runs on no restricted connection, unless the connection's prefix covers the
   * function.
   */
  readonly isTrustedWork?: boolean | undefined;
  /** Who gets the answer, under which id; `undefined`: no caller waits. */
  readonly caller: Caller | undefined;
  readonly ref: CallerRef;
  /** Called with the name of the worker that gets the call. */
  readonly handed?: ((workerName: string) => void) | undefined;
  /** A call of the console: marked in its trace, and not counted in metrics (API-2). */
  readonly isInternal?: boolean | undefined;
  /** A request from outside: the depth it claims counts towards the limit, and does not make it part of a chain. */
  readonly isFromOutside?: boolean | undefined;
  /** A restricted connection or a stream client causes it, although it runs with all rights. */
  readonly isForRestricted?: boolean | undefined;
  /** An attempt of a job: its time begins when its handler does. */
  readonly isJob?: boolean | undefined;
  /** The other routers of the process were asked: none of them offers the function. */
  readonly isUnknownElsewhere?: boolean | undefined;
  /** It waited for workers that were moving here. */
  readonly hasWaitedForMoves?: boolean | undefined;
  /** The engine of the cluster that passed it on, because a worker of this one offers the function. */
  readonly relayedBy?: string | undefined;
  /** The connection of that router of the process which calls a function of the engine. */
  readonly forwardedFor?: ForwardedFor | undefined;
  /** The restricted connection of another engine whose trigger calls: that engine judges the call. */
  readonly onBehalfOf?: OwnerElsewhere | undefined;
}

/** Runs calls of a function of the engine on this router, or passes them on to the first one. */
export interface OwnPlace {
  take(request: CallRequest): void;
}

/** Another engine may have an earlier registration of the function. */
export interface UnprovenFunction {
  /** Settles when it is proven, gone or late. */
  readonly ended: Promise<void>;
  readonly end: () => void;
  readonly cancel: () => void;
  waiting: number;
  /** It is not proven yet, and nothing waits for that any more. */
  isLate: boolean;
}

export interface MovingWorker {
  /** That it leaves. */
  readonly engine: RemoteEngine;
  readonly done: Promise<void>;
}

/** Ids that a connection had, for its successor on another router of the process. */
export interface Inheritance {
  readonly previousId: string;
  readonly successorId: string;
  readonly prefix: string | undefined;
  readonly idsMax: number;
  readonly triggers: readonly string[];
  readonly types: readonly string[];
}

/** A call in the table of calls in flight. */
export type HandedCall = Call<Session | ModuleExecutor | RemoteEngine, Caller>;

export interface RouterSettings {
  /** Answer as `iii` does wherever the engine's own behaviour differs (PD-1). */
  readonly isDropIn: boolean;
  readonly inFlightMax: number;
  readonly waiting: WaitingLimits;
  readonly outboundBytesMax: number;
  /** Whether log lines may quote data of users (X22). */
  readonly logPayloads: boolean;
  /** The mark that several engines share for traces of log triggers; absent: each engine has a key of its own. */
  readonly markKey?: string | undefined;
  /** It is one of several engines, which agree on the key of marks. */
  readonly isInCluster?: boolean | undefined;
  /** It is one of several router threads of the process. */
  readonly isOneOfRouters?: boolean | undefined;
  /** Engines of the same zone are preferred for calls that leave this engine. */
  readonly zone?: string | undefined;
}

/** How much a router has to do. */
export interface RouterLoad {
  readonly connections: number;
  readonly workers: WorkerCounts;
  readonly callsInFlight: number;
  readonly pressure: RouterPressure;
  /** Why it cannot reach other engines of the cluster. */
  readonly clusterTrouble?: string;
}

export type RouterPressure = Pick<Pressure, 'level' | 'name' | 'cause'>;

export function loadOf({ sessions, calls, pressure }: RouterContext, clusterTrouble?: string): RouterLoad {
  const { level, name, cause } = pressure;
  const load = {
    ...{ connections: sessions.size, workers: countWorkers(sessions.values()), callsInFlight: calls.openCount },
    pressure: { level, name, cause },
  };
  return clusterTrouble === undefined ? load : { ...load, clusterTrouble };
}

function countWorkers(sessions: Iterable<Session>): WorkerCounts {
  let [connected, active] = [0, 0];
  for (const { isWorker, isAccepting, functions } of sessions) {
    if (isWorker) connected++;
    if (isWorker && isAccepting && functions.size > 0) active++;
  }
  return { connected, active };
}

export interface RouterContext {
  readonly settings: RouterSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly pressure: Pressure;
  readonly functions: FunctionTable<Session, AnyBuiltin, RemoteEngine>;
  readonly triggers: TriggerTable<Session, ModuleTriggerType, TriggerOwner>;
  /** Names that trusted connections have used: no restricted connection may take them. */
  readonly reservations: Reservations;
  readonly calls: CallTable<Session | ModuleExecutor | RemoteEngine, Caller>;
  /** Calls in flight on another engine that a further engine may get, should the first refuse them; by slot. */
  readonly repeatable: Map<number, CallRequest>;
  /** What follows the end of calls in flight, whichever end it is; by slot. */
  readonly afterCalls: Map<number, () => void>;
  /** Other engines of the cluster. */
  readonly remoteEngines: Set<RemoteEngine>;
  /** Other router threads of this process. */
  readonly otherRouters: Set<RemoteEngine>;
  /** What further routers reported last; on the first router alone. */
  readonly furtherRouters: Map<number, RouterLoad>;
  /** Resolves when what they observed and counted before has come; `undefined`: there are none. */
  flushRouters: (() => Promise<void>) | undefined;
  /** On a further router: the first one, which has the modules of the engine. */
  home: RemoteEngine | undefined;
  /** On a further router: functions of the modules of the first one that it may run itself; by id. */
  readonly ownPlaces: Map<string, OwnPlace>;
  /** Calls back, at once or later, when all other routers know what is registered here; absent: there are none. */
  whenOthersKnow: ((then: () => void) => void) | undefined;
  /** Calls back when every other router has handled what had arrived there; absent: there are none. */
  afterTurnOfOthers: ((then: () => void) => void) | undefined;
  /** By id, functions of which another engine may have an earlier registration. */
  readonly unproven: Map<string, UnprovenFunction>;
  /** Workers that move here from another router or engine, and whose registrations wait for its answer. */
  readonly moves: Set<MovingWorker>;
  /** Reports to the other routers which ids are kept for a worker that has moved to one of them. */
  announceInheritance: ((inheritance: Inheritance) => void) | undefined;
  /** Calls for which no worker has a place yet. */
  readonly waiting: WaitingCalls<WaitingOwner, CallRequest>;
  /** To be called when a call of the worker has ended while calls wait. */
  readonly placeFreed: (worker: Session) => void;
  readonly moduleExecutor: ModuleExecutor;
  readonly sessions: Map<string, Session>;
  /** What the restricted ports allow, for work on behalf of connections that have left. */
  readonly portPolicies: PortPolicies;
  readonly channels: Channels;
  readonly payloadShare: PayloadShare;
  /** Bytes that the connections of all routers have not read. */
  readonly unread: { readonly trusted: SharedBytes; readonly restricted: SharedBytes; readonly most: SharedBytes };
  readonly compact: CompactPayloads;
  readonly messagePack: MessagePackForm;
  readonly payloadSizes: PayloadSizeCheck;
  /** Requests to addresses that users configured (X16 to X18). */
  readonly outgoing: OutgoingClient;
  /** The engine's own environment, which holds the secrets of functions that are a URL. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absent where keys of trigger configs that a type does not know are refused. */
  readonly foreignKeys: ForeignKeys | undefined;
  /** Callers that wait for a provider's verdict on a binding, by trigger id. */
  readonly verdicts: Map<string, (error: RawJson | undefined) => void>;
  /** Registrations of restricted connections that wait until another one has released the id. */
  readonly triggerClaims: IdClaims;
  readonly typeClaims: IdClaims;
  /** Reports events to the engine's own trigger types; see `router/registrations/announcements.ts`. */
  readonly announce: Announcements;
  readonly startedAtMs: number;
  /** Knows which work a log trigger caused. */
  readonly quietTraces: QuietTraces;
  /** Receives everything that happens; `undefined` while nothing is observed. */
  observer: Collector | undefined;
  /** `undefined` without a queue module. */
  jobTaker: JobTaker | undefined;
  /** Called, soon after, when functions came or went. */
  readonly functionListeners: Set<() => void>;
  /** Called when modules offer other functions or trigger types. */
  readonly moduleListeners: Set<() => void>;
  /** Called with its id when a worker came, left, or identified itself. */
  readonly workerListeners: Set<(workerId: string) => void>;
  /** Called when queues came or went, or their rules changed. */
  readonly queueListeners: Set<() => void>;
  /** The modules that have triggers that name queues. */
  readonly queueJudges: Set<QueueJudge>;
  /** By which other engines of the cluster know this one; empty while there are none. */
  engineId: string;
  /** How often a worker came, left, or identified itself. */
  workerChanges: number;
  isDraining: boolean;
  /** It drains, and its workers and callers move to other engines: until then it takes new calls. */
  isMoving: boolean;
  /** The drain is over: no call is handed out any more, because no answer would be sent. */
  isStopped: boolean;
}

export interface Announcements {
  functionsChanged(): void;
  /** Modules offer other functions or trigger types. */
  modulesChanged(): void;
  /** `depth`: the depth of the cause in its chain of calls; 0 for causes from outside. */
  workerEvent(event: WorkerEvent, workerId: string, depth?: number): void;
}

export type WorkerEvent = 'worker_connected' | 'worker_disconnected' | 'worker_metadata_updated';
