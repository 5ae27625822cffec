// The parts of a worker that not every place has, or has at once: Node brings all of them, a page loads some of them
// when they are first used.

import type { CalledSide } from './called-side.ts';
import type { Channel } from './channels.ts';
import type { HandlerSchemas } from './checked-handler.ts';
import type { Deadlines } from './deadline-wheel.ts';
import type { IncomingCallsParts, Run } from './incoming-calls.ts';
import type { InternalOptions, Settings } from './options.ts';
import type { Platform, PlatformClock, TerminationSignals } from './platform.ts';
import type { createQueueClient } from './queue-client.ts';
import type { Registrations } from './registrations.ts';
import type { callWithRetry } from './retry.ts';
import type { Drain } from './shutdown.ts';
import type { createStateClient } from './state-client.ts';
import type { StreamsParts, SvcStream } from './streams.ts';
import type { TelemetryParts, WorkerTelemetry } from './telemetry.ts';
import type { OpenWire } from './wire.ts';

export interface Features {
  /** What a dial is to carry. */
  dialFacts(options: InternalOptions, platform: Platform): Pick<Settings, 'headers' | 'subprotocols'>;
  readonly openWire: OpenWire;
  createDeadlines(clock: PlatformClock): Deadlines;
  readonly callWithRetry: typeof callWithRetry;
  /** The handler behind its schemas. Throws for a schema that cannot be kept, or has its calls fail. */
  checkHandler(run: Run, schemas: HandlerSchemas): Run;
  createTelemetry(parts: TelemetryParts): WorkerTelemetry;
  createCalled(parts: IncomingCallsParts, registrations: Registrations): Called;
  createChannels(platform: Platform, settings: Settings): ChannelsOfWorker;
  readonly createState: typeof createStateClient;
  readonly createQueue: typeof createQueueClient;
  createStreams(parts: StreamsParts): StreamsOfWorker;
  /** Resolves when nothing is running any more, or when it has been given all the time it gets. Never rejects. */
  drain(drain: Drain): Promise<void>;
  /** Has the worker end on a signal, where there are signals, until the returned function is called. */
  endOnSignals(signals: TerminationSignals | undefined, shutDown: () => Promise<void>): () => void;
}

export interface Called {
  /** There when a call or a binding comes in, if it was expected; undefined then means that it could not be had. */
  readonly side: CalledSide | undefined;
  /** Something was registered: from now on the engine may call. */
  expect(): void;
}

export interface ChannelsOfWorker {
  /** A message is being read that may hold a reference. */
  noteReference(): void;
  /** A payload or a result that has just been read, with live ends in place of references. */
  revive(value: unknown): unknown;
  /** The channel in the engine's answer. */
  readCreated(answer: unknown): Channel;
  /** Ends every connection of an end; what was written and closed has a moment to leave. */
  end(): Promise<void>;
}

export interface StreamsOfWorker {
  stream(name: string): SvcStream;
  closeAll(): void;
}
