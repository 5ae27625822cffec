// Connects the parts of a worker: requests of users go in here, and frames of the connection are passed on from here.
//
// Neighbours: every part has its own file; `svc-worker.ts` documents the methods.
//
// - On a new connection the order is: reattach, announcement, trigger types, functions, triggers, waiting calls. So an
//   event that finds its trigger also finds its function, and a waiting call may call this worker itself.

import type { Trigger, Untyped } from '../calls/call-types.ts';
import { isInvocationStopped, isSvcError, SvcError } from '../calls/errors.ts';
import { OutgoingCalls } from '../calls/outgoing-calls.ts';
import { type AnyCall, makeCall } from '../calls/outgoing-request.ts';
import { errorFromAnswer } from '../calls/remote-error.ts';
import type { TraceCarrier } from '../calls/trace-context.ts';
import type { Channel, ChannelOptions } from '../channels/channels.ts';
import type { ConnectionState, WorkFrame } from '../connection/connection.ts';
import type { Link } from '../connection/link.ts';
import type { SvcQueue } from '../data/queue-client.ts';
import type { StateClient } from '../data/state-client.ts';
import type { AnyFunctionDefinition, RegisteredFunction } from '../functions/function-definition.ts';
import { readFunction } from '../functions/function-registration.ts';
import type { SvcStream } from '../streams/streams.ts';
import { createLogger, type Logger, type WorkerTelemetry } from '../telemetry/telemetry.ts';
import type {
  RegisteredTrigger,
  RegisteredTriggerType,
  TriggerDefinition,
  TriggerTypeDefinition,
  TriggerTypeProvider,
} from '../triggers/trigger-definition.ts';
import { makeAnnouncement } from './announcement.ts';
import { EventListeners, Readiness, type WorkerEvents } from './events.ts';
import type { Called, ChannelsOfWorker, EngineConnection, Features, StreamsOfWorker } from './features.ts';
import { type Handler, type Middleware, MiddlewareChain } from './handler.ts';
import { checkId, type InternalOptions, resolveSettings, type Settings } from './options.ts';
import type { ContextStorage, Platform, PlatformSocket, SocketClosure } from './platform.ts';
import { Registrations } from './registrations.ts';
import type { RegisterFunction, SvcWorker } from './svc-worker.ts';

export class Worker implements SvcWorker {
  readonly name: string;
  readonly trigger: Trigger;
  readonly registerFunction: RegisterFunction;
  readonly state: StateClient;
  readonly logger: Logger;
  readonly #telemetry: WorkerTelemetry;
  readonly #platform: Platform;
  readonly #settings: Settings;
  readonly #events: EventListeners;
  readonly #middleware = new MiddlewareChain();
  readonly #readiness = new Readiness();
  readonly #registrations: Registrations;
  readonly #outgoing: OutgoingCalls;
  readonly #called: Called;
  readonly #features: Features;
  readonly #channels: ChannelsOfWorker;
  readonly #streams: StreamsOfWorker;
  readonly #connection: EngineConnection;
  /** Resolves when there will be no further connection. */
  readonly #closed: Promise<void>;
  readonly #stopSignals: (() => void) | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(url: string, options: InternalOptions, platform: Platform, features: Features) {
    const settings = resolveSettings(url, options, platform, features.dialOptions(options, platform));
    const { clock, signals } = platform;
    const contexts: ContextStorage<TraceCarrier> = platform.createContextStorage();
    const wheel = features.createDeadlines(clock);
    const middleware = this.#middleware;
    this.name = settings.name;
    this.#platform = platform;
    this.#features = features;
    this.#settings = settings;
    this.#events = new EventListeners((problem) => settings.log('error', problem));
    this.#registrations = new Registrations(settings, this.#events);
    const telemetry = features.createTelemetry({ settings, clock, worker: this, link: () => this.#connection.link });
    this.#telemetry = telemetry;
    this.logger = createLogger(telemetry.log, () => contexts.current());
    this.#outgoing = new OutgoingCalls(clock, wheel, settings);
    this.#called = features.createCalled(
      {
        settings,
        contexts,
        middleware,
        environment: { worker: this, clock, wheel, telemetry },
        find: (functionId) => this.#registrations.functions.get(functionId)?.run,
      },
      this.#registrations,
    );
    const { callWithRetry } = features;
    const requestContext = { platform, settings, contexts, middleware, outgoing: this.#outgoing, callWithRetry };
    this.trigger = (...given: AnyCall): Promise<Untyped> => makeCall(given, requestContext);
    this.#streams = features.createStreams({ platform, settings, trigger: this.trigger });
    this.registerFunction = (
      given: string | AnyFunctionDefinition,
      rest: Omit<AnyFunctionDefinition, 'id'> | Handler<Untyped, unknown>,
      handler?: Handler<Untyped, unknown>,
    ): RegisteredFunction<Untyped, Untyped> => {
      const id = typeof given === 'string' ? { id: given } : given;
      return typeof rest === 'function' ? this.#addFunction(id, rest) : this.#addFunction({ ...rest, ...id }, handler);
    };
    this.state = features.createState(this, platform.uuid);
    let markClosed = (): void => {};
    this.#closed = new Promise((resolve) => {
      markClosed = resolve;
    });
    const channels = features.createChannels(platform, settings);
    const openWire = (socket: PlatformSocket) =>
      features.openWire(socket, settings.frameBytesMax, () => channels.noteReference());
    this.#channels = channels;
    this.#connection = new features.Connection(platform, settings, openWire, {
      onUp: (link, isFirst) => this.#onUp(link, isFirst),
      onDown: (link, closure) => this.#onDown(link, closure),
      onFrame: (frame, link) => this.#onFrame(frame, link),
      onCall: (call, payload, link) => {
        const { side } = this.#called;
        if (side === undefined) link.sendError(call, NO_HANDLERS);
        else side.calls.receive(call, channels.revive(payload), link);
      },
      onResult: (number, result) => this.#outgoing.succeed(number, channels.revive(result)),
      onError: (number, error, traceparent) => this.#outgoing.fail(number, error, traceparent),
      onRefused: (error, isNews) => this.#onRefused(error, isNews),
      onClosed: (error) => {
        this.#onClosed(error ?? new SvcError('SHUTDOWN', 'this worker was shut down'));
        markClosed();
      },
    });
    this.#stopSignals = features.endOnSignals?.(options, signals, () => this.shutdown());
    this.#connection.start();
  }

  get id(): string | undefined {
    return this.#connection.link?.workerId;
  }

  get state_of_connection(): ConnectionState {
    return this.#connection.state;
  }

  async emit(topic: string, data: unknown = null): Promise<void> {
    await this.trigger({ function_id: 'publish', payload: { topic, data } });
  }

  queue(name: string): SvcQueue {
    return this.#features.createQueue(this, name);
  }

  stream(name: string): SvcStream {
    return this.#streams.stream(name);
  }

  registerTrigger(definition: TriggerDefinition): RegisteredTrigger {
    return this.#addTrigger(definition);
  }

  #addTrigger({ type, config, metadata, ...target }: TriggerDefinition): RegisteredTrigger {
    const given = target.function_id ?? target.functionId ?? '';
    const registration = this.#registrations.addTrigger({
      type: 'registertrigger',
      id: this.#platform.uuid(),
      trigger_type: checkId('registerTrigger: type', type),
      function_id: checkId('registerTrigger: function_id', typeof given === 'string' ? given : given.id),
      config,
      metadata,
    });
    return {
      id: registration.frame.id,
      ready: () => registration.ready(() => this.#roundTrip()),
      unregister: () => this.#registrations.remove(registration),
    };
  }

  registerTriggerType(definition: TriggerTypeDefinition, provider: TriggerTypeProvider): RegisteredTriggerType {
    // Without a description the engine would drop the frame, and only log it.
    const { description = '', trigger_request_format, call_request_format } = definition;
    const id = checkId('registerTriggerType: id', definition.id);
    if (typeof provider?.registerTrigger !== 'function' || typeof provider.unregisterTrigger !== 'function') {
      throw new SvcError('INVALID_ARGUMENTS', `the provider of ${id} lacks a method`);
    }
    const frame = {
      type: 'registertriggertype',
      id,
      description,
      trigger_request_format,
      call_request_format,
    } as const;
    this.#called.expect();
    const registration = this.#registrations.addTriggerType(frame, provider);
    return {
      id,
      ready: () => registration.ready(() => this.#roundTrip()),
      unregister: () => {
        this.#registrations.remove(registration);
        this.#called.side?.triggerTypes.giveUpType(id);
      },
    };
  }

  async createChannel({ buffer_size }: ChannelOptions = {}): Promise<Channel> {
    const created: unknown = await this.trigger({ function_id: CREATE_CHANNEL, payload: { buffer_size } });
    return this.#channels.readCreated(created);
  }

  use(middleware: Middleware): void {
    if (typeof middleware !== 'function')
      throw new SvcError('INVALID_ARGUMENTS', 'use: the middleware is not a function');
    this.#middleware.add(middleware);
  }

  on<Name extends keyof WorkerEvents>(name: Name, listener: (detail: WorkerEvents[Name]) => void): () => void {
    return this.#events.add(name, listener);
  }

  ready(): Promise<void> {
    return this.#readiness.wait();
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#shutDown();
    return this.#shutdown;
  }

  async #shutDown(): Promise<void> {
    await this.#features.drain({
      clock: this.#platform.clock,
      incoming: this.#called.side?.calls,
      drainTimeoutMs: this.#settings.drainTimeoutMs,
      withdraw: () => this.#registrations.withdrawWork(),
      link: () => this.#connection.link,
      roundTrip: () => this.#roundTrip(),
    });
    this.#streams.closeAll();
    await this.#channels.end();
    this.#telemetry.end?.();
    this.#connection.end();
    await this.#closed;
    this.#stopSignals?.();
  }

  #addFunction(definition: AnyFunctionDefinition, handler: Handler<Untyped, unknown> | undefined) {
    const { frame, run } = readFunction(
      definition,
      handler,
      this.#settings,
      this.#platform.clock,
      this.#features.checkHandler,
    );
    this.#called.expect();
    const registration = this.#registrations.addFunction(frame, run);
    const { id } = frame;
    const triggers = [definition.trigger ?? []].flat().map((one) => this.#addTrigger({ ...one, function_id: id }));
    return {
      id,
      trigger: (payload?: unknown, options?: object): Promise<Untyped> =>
        this.trigger({ ...options, function_id: id, payload }),
      ready: async () => {
        await registration.ready(() => this.#roundTrip());
        await Promise.all(triggers.map((one) => one.ready()));
      },
      unregister: () => {
        for (const one of triggers) one.unregister();
        this.#registrations.remove(registration);
      },
    };
  }

  #onUp(link: Link, isFirst: boolean): void {
    if (this.#settings.announces) link.sendCall(makeAnnouncement(this.#settings));
    this.#registrations.connectionUp(link);
    this.#outgoing.connectionUp(link);
    if (this.#called.side?.triggerTypes.holdsAny) void this.#reconcileBindings(link);
    this.#readiness.up();
    this.#events.emit(isFirst ? 'connected' : 'reconnected', { worker_id: link.workerId });
  }

  #onDown(link: Link, { code, reason }: SocketClosure): void {
    this.#outgoing.connectionLost(link);
    // It has moved to another engine.
    if (this.#connection.link !== undefined) return;
    this.#registrations.connectionLost();
    this.#readiness.down();
    // An end that the user asked for is not reported.
    const isOwnEnd = this.#connection.state === 'closed' && this.#shutdown !== undefined;
    if (!isOwnEnd) this.#events.emit('disconnected', { code, reason });
  }

  #onRefused(error: SvcError, isNews: boolean): void {
    this.#readiness.refuse(error);
    if (isNews) this.#events.emit('rejected', { subject: 'connection', error });
  }

  #onClosed(reason: SvcError): void {
    this.#outgoing.end(reason);
    this.#readiness.end(reason);
  }

  #onFrame(frame: WorkFrame, link: Link): void {
    switch (frame.type) {
      case 'registertrigger':
        this.#called.side?.triggerTypes.register(frame, link);
        return;
      case 'unregistertrigger':
        this.#called.side?.triggerTypes.unregister(frame.id);
        return;
      case 'triggerregistrationresult':
        if (frame.error !== undefined && frame.error !== null) {
          const { code, message } = errorFromAnswer(frame.error, frame.function_id, undefined);
          this.#registrations.refuse('triggers', frame.id, code, message);
        }
        return;
      case 'registrationrejected': {
        const { function_id, trigger_type, code, message } = frame;
        const among = trigger_type === undefined ? 'functions' : 'triggerTypes';
        this.#registrations.refuse(among, trigger_type ?? function_id, code, message);
        return;
      }
      case 'draining':
        this.#events.emit('draining', {});
    }
  }

  /** The engine sends its triggers when it reads the types, so after one round trip all of them have arrived. */
  async #reconcileBindings(link: Link): Promise<void> {
    try {
      await this.#roundTrip();
      if (link.isUp) this.#called.side?.triggerTypes.giveUpOthersThan(link);
    } catch {
      // Without an answer nothing is proven: the triggers stay until the next connection.
    }
  }

  /** Resolves when the engine has answered a new question, and so has read all that was sent before. */
  async #roundTrip(): Promise<void> {
    const { timeoutMs } = this.#settings;
    const probe = {
      functionId: PROBE,
      payload: {},
      metadata: undefined,
      action: undefined,
      signal: undefined,
      timeoutMs,
    };
    for (;;) {
      try {
        await this.#outgoing.begin(probe, undefined);
        return;
      } catch (error) {
        // Any answer proves it, also a refusal.
        if (isSvcError(error) && error.remote !== undefined) return;
        if (!isInvocationStopped(error)) throw error;
      }
    }
  }
}

/** The function that is called when only the fact of an answer counts. */
const PROBE = 'engine::health::check';
/** Sent if the code that runs handlers could not be loaded; the reason is in the log. */
const NO_HANDLERS = { code: 'invocation_failed', message: 'a part of svc-browser-sdk could not be loaded' };
const CREATE_CHANNEL = 'engine::channels::create';
