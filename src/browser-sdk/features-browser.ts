// The parts of a worker in a page. From the start: JSON on the wire and a timer for each deadline. On first use:
// handlers, schemas, channels and streams.

import { SUBPROTOCOL_JSON } from '../protocol/frames/subprotocols.ts';
import type { Deadline, Deadlines } from '../sdk/calls/deadline-wheel.ts';
import type { CalledSide, IncomingCallsOptions } from '../sdk/calls/incoming-calls.ts';
import { Connection } from '../sdk/connection/connection.ts';
import { JsonWire } from '../sdk/wire/json-wire.ts';
import type { Called, Features } from '../sdk/worker/features.ts';
import type { PlatformClock } from '../sdk/worker/platform.ts';
import type { Registrations } from '../sdk/worker/registrations.ts';
import { createLateQueue, createLateState, LateStreams } from './late-data.ts';
import { LateChannels, loadPart, type PartLoader } from './part-loader.ts';

export function createFeatures(loader: PartLoader): Features {
  return {
    dialOptions: () => ({ headers: {}, subprotocols: [SUBPROTOCOL_JSON] }),
    openWire: (socket, _frameBytesMax, noteReference) => new JsonWire(socket, noteReference),
    createDeadlines: (clock) => new Timers(clock),
    callWithRetry: async (...call) => (await loadPart(() => import('../sdk/calls/retry.ts'))).callWithRetry(...call),
    Connection,
    checkHandler(run, schemas) {
      if (schemas.input === undefined && schemas.output === undefined) return run;
      const checked = loadPart(async () =>
        (await import('../sdk/functions/checked-handler.ts')).checkHandler(run, schemas),
      );
      // Each caller gets the error; there may be no caller.
      checked.catch((error) => schemas.warn?.(`${schemas.functionId}: ${error}`));
      return async (payload, invocation) => (await checked)(payload, invocation);
    },
    createTelemetry: ({ worker }) => ({
      log: (...record) =>
        void import('../sdk/telemetry/log-by-call.ts').then(
          (part) => part.logByCall(worker, ...record),
          () => {},
        ),
    }),
    createCalled: (calls, registrations) => new LateCalled(loader, calls, registrations),
    createChannels: (platform, settings) => new LateChannels(loader, platform, settings),
    createState: createLateState,
    createQueue: createLateQueue,
    createStreams: (streams) => new LateStreams(streams),
    async drain(ending) {
      try {
        await (await import('../sdk/worker/shutdown.ts')).drain(ending);
      } catch {
        // The end must not wait for code that cannot be loaded.
        ending.withdraw();
      }
    },
  };
}

class LateCalled implements Called {
  side: CalledSide | undefined;
  readonly #loader: PartLoader;
  readonly #calls: IncomingCallsOptions;
  readonly #registrations: Registrations;
  #isExpected = false;

  constructor(loader: PartLoader, calls: IncomingCallsOptions, registrations: Registrations) {
    this.#loader = loader;
    this.#calls = calls;
    this.#registrations = registrations;
  }

  expect(): void {
    if (this.#isExpected) return;
    this.#isExpected = true;
    const load = async (): Promise<void> => {
      const { CalledSide } = await import('../sdk/calls/incoming-calls.ts');
      this.side = new CalledSide(this.#calls, this.#registrations);
    };
    this.#loader.awaitPart(load, (error) => {
      this.#isExpected = false;
      this.#calls.settings.log('error', `cannot run functions of this page: ${error}`);
    });
  }
}

/** A page has few calls in flight, so a timer for each costs little. */
class Timers implements Deadlines {
  readonly #clock: PlatformClock;
  readonly #cancels = new Map<Deadline, () => void>();

  constructor(clock: PlatformClock) {
    this.#clock = clock;
  }

  add(entry: Deadline, delayMs: number): void {
    const cancel = this.#clock.after(delayMs, () => {
      this.#cancels.delete(entry);
      entry.expire();
    });
    this.#cancels.set(entry, cancel);
  }

  addLoosely(entry: Deadline, delayMs: number): void {
    this.add(entry, delayMs);
  }

  remove(entry: Deadline): void {
    this.#cancels.get(entry)?.();
    this.#cancels.delete(entry);
  }
}
