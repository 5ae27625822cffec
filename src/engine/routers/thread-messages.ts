// What the main thread and a further router thread say to each other.

import type { MessagePort } from 'node:worker_threads';
import type { ModuleKey } from '../../config/changes.ts';
import type { LoadedConfig } from '../../config/load.ts';
import type { SharedCounts } from '../../core/limits/process-counts.ts';
import type { SourceGauges, TelemetryBatch } from '../../core/telemetry/records/intake.ts';
import type { TelemetrySettings } from '../../core/telemetry/records/settings.ts';
import type { ConsoleStyle } from '../../effects/logger.ts';
import type { SharedLine } from '../../effects/shared-memory/carrier.ts';
import type { FromFirstRouter, ToFirstRouter } from '../../modules/http/passed/messages.ts';
import type { FromOutlet, ToOutlet } from '../../modules/stream/outlets/messages.ts';
import type { RouterLoad } from '../../router/context.ts';
import type { RouterModule } from './modules-of-routers.ts';

/** What the thread is started with. */
export interface RouterThreadData {
  /** From 1: the main thread has the first router. */
  readonly index: number;
  readonly ownId: string;
  readonly homeId: string;
  readonly lines: readonly SharedLine[];
  readonly order: SharedArrayBuffer;
  readonly counts: SharedCounts | undefined;
  /** Counts the threads that have closed their sockets: see `abandon`. */
  readonly closed: SharedArrayBuffer;
  readonly settings: LoadedConfig['settings'];
  readonly modules: readonly RouterModule[];
  readonly telemetry: TelemetrySettings;
  readonly console: ConsoleStyle;
  readonly filesMax: number | undefined;
  readonly poolThreads: number;
  /** A test bears its own load. */
  readonly isAtEase: boolean;
}

export type ToRouterThread =
  | {
      readonly kind: 'listen';
      /** The ports of its modules, in their order. */
      readonly ports: readonly number[];
      /** Marks of traces that a log trigger caused. */
      readonly markKey: string;
    }
  /** The state module has started. */
  | { readonly kind: 'state'; readonly state: StateAccess }
  /** A batch was taken. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'http'; readonly message: FromFirstRouter }
  | { readonly kind: 'streams'; readonly message: ToOutlet }
  /** What its connections reported about their processes. */
  | { readonly kind: 'gauges'; readonly gauges: readonly SourceGauges[] }
  /** Prepares other settings of a module. */
  | { readonly kind: 'reconfigure'; readonly number: number; readonly key: ModuleKey; readonly config: unknown }
  /** Uses the settings that it prepared under this number. */
  | { readonly kind: 'commit'; readonly number: number }
  /** Starts these modules as well. */
  | {
      readonly kind: 'add';
      readonly number: number;
      readonly modules: readonly RouterModule[];
      readonly ports: readonly number[];
      /** How many ports of workers had a number at the first router before: see `ProcessCounts`. */
      readonly portsBefore: number;
    }
  | { readonly kind: 'remove'; readonly key: ModuleKey }
  /** What it has observed is to come now. */
  | { readonly kind: 'flush' }
  | { readonly kind: 'drain'; readonly timeoutMs: number }
  /** All routers have come as far in the drain. */
  | { readonly kind: 'proceed' }
  /** The process ends now. */
  | { readonly kind: 'abandon' };

/** How a router reads and writes state itself. */
export interface StateAccess {
  /** To the thread of the store. */
  readonly port: MessagePort;
  /** Of the store, for log lines. */
  readonly name: string;
  /** Of `SharedState`. */
  readonly flag: Int32Array;
}

export interface FiredTrigger {
  readonly id: string;
  readonly atMs: number;
  readonly error: string | undefined;
}

export type FromRouterThread =
  /** It knows the functions of the first router, and can listen. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly exitCode: number; readonly message: string }
  | { readonly kind: 'http'; readonly message: ToFirstRouter }
  | { readonly kind: 'streams'; readonly message: FromOutlet }
  | { readonly kind: 'store failed'; readonly reason: string }
  /** Without `reason` it can use the new settings, or has started the modules. */
  | { readonly kind: 'answered'; readonly number: number; readonly reason?: string }
  | { readonly kind: 'telemetry'; readonly batch: TelemetryBatch }
  | {
      readonly kind: 'counted';
      readonly counts: Readonly<Record<string, number>>;
      readonly load: RouterLoad;
      /** Triggers that fired on it since the last report. */
      readonly fired: readonly FiredTrigger[];
    }
  /** The batches before it hold all that it had observed. */
  | { readonly kind: 'flushed' }
  /** In the drain: it waits until all routers have come as far. */
  | { readonly kind: 'arrived' }
  | { readonly kind: 'drained' };
