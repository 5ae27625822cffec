// What the verbs of the router share: the tables, the outside world, and the settings they go by.

import type { CallTable } from '../core/call-table.ts';
import type { Counters } from '../core/counters.ts';
import type { FunctionTable } from '../core/function-table.ts';
import type { TriggerTable } from '../core/trigger-table.ts';
import type { Clock } from '../effects/clock.ts';
import type { Logger } from '../effects/logger.ts';
import type { Random } from '../effects/random.ts';
import type { RawJson } from '../protocol/byte-string.ts';
import type { BuiltinDefinition, ModuleExecutor, ModuleTriggerType } from './builtin.ts';
import type { Channels } from './channels.ts';
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

export interface RouterContext {
  readonly settings: RouterSettings;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly functions: FunctionTable<Session, BuiltinDefinition>;
  readonly triggers: TriggerTable<Session, ModuleTriggerType>;
  readonly calls: CallTable<Session | ModuleExecutor, Caller>;
  readonly moduleExecutor: ModuleExecutor;
  readonly sessions: Map<string, Session>;
  readonly channels: Channels;
  /** Who waits for a provider's verdict on a binding, by trigger id. */
  readonly verdicts: Map<string, (error: RawJson | undefined) => void>;
  /** Tells the engine's own trigger types what happened; see `router/announcements.ts`. */
  readonly announce: Announcements;
  readonly startedAtMs: number;
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
