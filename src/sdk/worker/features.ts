// The parts of a worker that some platforms lack or load later: Node has all of them at once, a page loads some of them
// on first use.

import type { Deadlines } from '../calls/deadline-wheel.ts';
import type { CalledSide, IncomingCallsOptions } from '../calls/incoming-calls.ts';
import type { Run } from '../calls/invocation.ts';
import type { callWithRetry } from '../calls/retry.ts';
import type { Channel } from '../channels/channels.ts';
import type { Connection } from '../connection/connection.ts';
import type { createQueueClient } from '../data/queue-client.ts';
import type { createStateClient } from '../data/state-client.ts';
import type { HandlerSchemas } from '../functions/checked-handler.ts';
import type { StreamsOptions, SvcStream } from '../streams/streams.ts';
import type { TelemetryOptions, WorkerTelemetry } from '../telemetry/telemetry.ts';
import type { OpenWire } from '../wire/wire.ts';
import type { InternalOptions, Settings } from './options.ts';
import type { Platform, PlatformClock, TerminationSignals } from './platform.ts';
import type { Registrations } from './registrations.ts';
import type { Drain } from './shutdown.ts';

export interface Features {
  /** Options that the dial carries. */
  dialOptions(options: InternalOptions, platform: Platform): Pick<Settings, 'headers' | 'subprotocols'>;
  readonly openWire: OpenWire;
  readonly Connection: new (...parts: ConstructorParameters<typeof Connection>) => EngineConnection;
  createDeadlines(clock: PlatformClock): Deadlines;
  readonly callWithRetry: typeof callWithRetry;
  /** The handler with its schemas. A schema that cannot be supported makes this throw, or makes the calls fail. */
  checkHandler(run: Run, schemas: HandlerSchemas): Run;
  createTelemetry(options: TelemetryOptions): WorkerTelemetry;
  createCalled(options: IncomingCallsOptions, registrations: Registrations): Called;
  createChannels(platform: Platform, settings: Settings): ChannelsOfWorker;
  readonly createState: typeof createStateClient;
  readonly createQueue: typeof createQueueClient;
  createStreams(options: StreamsOptions): StreamsOfWorker;
  /** Resolves when no handler is running, or when the time is over. Never rejects. */
  drain(drain: Drain): Promise<void>;
  /** Shuts the worker down on a signal until the returned function is called. Absent: the platform has no signals. */
  endOnSignals?(
    options: InternalOptions,
    signals: TerminationSignals | undefined,
    shutDown: () => Promise<void>,
  ): () => void;
}

/** The way of a worker to its engine, or to one of several. */
export type EngineConnection = Pick<Connection, 'state' | 'link' | 'start' | 'end'>;

export interface Called {
  /** Loaded by the time a call or a trigger arrives, if it was expected; undefined then means that loading failed. */
  readonly side: CalledSide | undefined;
  /** Something was registered: from now on the engine may call. */
  expect(): void;
}

export interface ChannelsOfWorker {
  /** Called while a message is read that may hold a reference. */
  noteReference(): void;
  /** A payload or a result that has just been read, with live ends in place of references. */
  revive(value: unknown): unknown;
  /** Reads the channel from the engine's answer. */
  readCreated(answer: unknown): Channel;
  /** Ends the connection of every end; what was written and closed gets a moment to leave. */
  end(): Promise<void>;
}

export interface StreamsOfWorker {
  stream(name: string): SvcStream;
  closeAll(): void;
}
