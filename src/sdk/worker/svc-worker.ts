// The interface of a worker, for users. Its implementation is in `worker.ts`.

import type { PayloadOf, ResultOf, Target, Trigger, Untyped } from '../calls/call-types.ts';
import type { Channel, ChannelOptions } from '../channels/channels.ts';
import type { ConnectionState } from '../connection/connection.ts';
import type { SvcQueue } from '../data/queue-client.ts';
import type { StateClient } from '../data/state-client.ts';
import type { FunctionDefinition, FunctionProperties, RegisteredFunction } from '../functions/function-definition.ts';
import type { Functions } from '../functions/functions.ts';
import type { InputOf, JsonSchema, OutputOf, Schema, StandardSchema } from '../functions/schema.ts';
import type { SvcStream } from '../streams/streams.ts';
import type { Logger } from '../telemetry/telemetry.ts';
import type {
  CheckedTrigger,
  FittingTrigger,
  FunctionTrigger,
  RegisteredTrigger,
  RegisteredTriggerType,
  TriggerTypeDefinition,
  TriggerTypeProvider,
} from '../triggers/trigger-definition.ts';
import type { WorkerEvents } from './events.ts';
import type { Handler, Middleware } from './handler.ts';

/**
 * A connection to the engine: offers functions and calls functions. It reconnects by itself and then registers
 * everything again.
 *
 * @example
 * import { registerWorker, type SvcWorker } from 'svc-sdk';
 *
 * const svc: SvcWorker = registerWorker('ws://127.0.0.1:49134', { worker_name: 'orders' });
 * svc.registerFunction('orders::count', () => 42);
 * await svc.ready();
 */
export interface SvcWorker {
  /** The name under which it announced itself. */
  readonly name: string;
  /** The id that the engine assigned to the current connection; undefined while there is none. */
  readonly id: string | undefined;
  /** Whether there is a connection right now. */
  readonly state_of_connection: ConnectionState;

  /**
   * Offers a function. With a Standard Schema as `input`, or an entry in `Functions`, the handler's payload is typed;
   * otherwise write the type yourself or leave it out.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const svc = registerWorker();
   * const add = svc.registerFunction('math::add', ({ x, y }: { x: number; y: number }) => x + y);
   * const five: number = await add.trigger({ x: 2, y: 3 });
   * console.log(five);
   */
  readonly registerFunction: RegisterFunction;

  /**
   * Binds an event source to a function.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const svc = registerWorker();
   * const add = svc.registerFunction('math::add', ({ body }: { body: { x: number; y: number } }) => ({
   *   status_code: 200,
   *   body: { sum: body.x + body.y },
   * }));
   * svc.registerTrigger({ type: 'http', function_id: add, config: { api_path: '/add', http_method: 'POST' } });
   */
  registerTrigger<const Type extends string, const T extends Target>(
    definition: CheckedTrigger<Type, T>,
  ): RegisteredTrigger;

  /**
   * Provides a trigger type of its own: the engine passes every trigger of the type to it.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const svc = registerWorker();
   * svc.registerTriggerType(
   *   { id: 'webhook', description: 'Inbound webhook' },
   *   {
   *     registerTrigger: ({ id, config }) => console.log('bound', id, config),
   *     unregisterTrigger: ({ id }) => console.log('gone', id),
   *   },
   * );
   */
  registerTriggerType(definition: TriggerTypeDefinition, provider: TriggerTypeProvider): RegisteredTriggerType;

  /**
   * Calls a function and returns its result; with `Enqueue`, the receipt; with `Void`, nothing. A call
   * that cannot be sent yet waits, up to its own deadline: without a connection, or while the engine allows no further
   * unanswered call. When these calls fill `unsent_bytes_max`, a further one fails with `OVERLOADED`.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const svc = registerWorker();
   * const sum = await svc.trigger<{ x: number; y: number }, number>({
   *   function_id: 'math::add',
   *   payload: { x: 2, y: 3 },
   *   timeout_ms: 5_000,
   * });
   * console.log(sum);
   */
  readonly trigger: Trigger;

  /** Logs for the handler that runs, else for this worker. */
  readonly logger: Logger;

  /** Values stored by the engine, by scope and key. */
  readonly state: StateClient;

  /**
   * Publishes an event: every function bound to its topic is called with the data, without waiting for it. Resolves
   * when the engine has passed it on.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const svc = registerWorker();
   * const welcome = svc.registerFunction('mail::welcome', ({ id }: { id: number }) => console.log('welcome', id));
   * svc.registerTrigger({ type: 'event', function_id: welcome, config: { topic: 'user.*' } });
   * await svc.emit('user.created', { id: 7 });
   */
  emit(topic: string, data?: unknown): Promise<void>;

  /**
   * Creates a channel: a pipe for bytes and texts next to the calls, for data that is too large for a payload or not
   * complete yet. References to its ends may occur anywhere in payloads and results; the receiver gets a live end.
   *
   * @example
   * import { type ChannelReader, registerWorker } from 'svc-sdk';
   *
   * const svc = registerWorker();
   * svc.registerFunction('files::size', async ({ from }: { from: ChannelReader }) => (await from.readAll()).length);
   * const { writer, readerRef } = await svc.createChannel();
   * const size = svc.trigger({ function_id: 'files::size', payload: { from: readerRef } });
   * await writer.write(new Uint8Array(10_000_000));
   * await writer.close();
   * console.log(await size);
   */
  createChannel(options?: ChannelOptions): Promise<Channel>;

  /**
   * Adds a middleware around all handlers and all outgoing calls of this worker, inside those added before.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * registerWorker().use(async (call, next) => {
   *   console.log(call.direction, call.function_id);
   *   return next();
   * });
   */
  use(middleware: Middleware): void;

  /**
   * A stream by its name: reads and writes its groups, and watches them.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const room = registerWorker().stream('chat').group<{ text: string }>('room1');
   * room.subscribe({ onChange: ({ type, id }) => console.log(type, id) });
   */
  stream(name: string): SvcStream;

  /**
   * A queue by its name: its jobs and its dead letters. This sends nothing to the engine.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const mail = registerWorker().queue('mail');
   * await mail.enqueue('mail::send', { to: 'x@example.org' });
   * console.log(await mail.dlq.list());
   */
  queue(name: string): SvcQueue;

  /**
   * Adds a listener for an event; the returned function removes it.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const stop = registerWorker().on('rejected', ({ error }) => console.error(error.message));
   * stop();
   */
  on<Name extends keyof WorkerEvents>(name: Name, listener: (detail: WorkerEvents[Name]) => void): () => void;

  /**
   * Resolves when the worker is connected, at once if it is. Rejects if the engine refuses the credentials, and if the
   * worker is shut down.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * await registerWorker().ready();
   */
  ready(): Promise<void>;

  /**
   * Ends the worker: withdraws its functions, lets handlers finish up to `drain_timeout_ms`, aborts the `signal` of
   * those that did not, and closes the connection. A second call waits for the same end.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const svc = registerWorker(undefined, { handle_signals: false });
   * await svc.shutdown();
   */
  shutdown(): Promise<void>;
}

/**
 * The overloads of `registerFunction`; see `SvcWorker.registerFunction` for what it does. They differ in the number of
 * arguments, so that the compiler reports a handler that does not fit where it does not fit, and not at an overload
 * that was not meant. A user may write the first two type arguments.
 */
export interface RegisterFunction {
  <
    In = Untyped,
    Out extends HandlerOutput<Id, O> = Untyped,
    const Id extends string = string,
    I extends Schema | undefined = JsonSchema | undefined,
    O extends Schema | undefined = JsonSchema | undefined,
  >(
    definition: Id | FunctionDefinition<Id, I, O>,
    handler: Handler<HandlerPayload<Id, I, In>, Out>,
  ): RegisteredFunction<CallerInput<Id, I, In>, CallerOutput<Id, O, Out>>;
  /** The rest of the definition after the id. */
  <
    In = Untyped,
    Out extends HandlerOutput<Id, O> = Untyped,
    const Id extends string = string,
    I extends Schema | undefined = JsonSchema | undefined,
    O extends Schema | undefined = JsonSchema | undefined,
    const T extends FunctionTrigger | readonly FunctionTrigger[] = FunctionTrigger,
  >(
    id: Id,
    definition: FunctionProperties<I, O> & { readonly trigger?: T & FittingTrigger<T, HandlerPayload<Id, I, In>> },
    handler: Handler<HandlerPayload<Id, I, In>, Out>,
  ): RegisteredFunction<CallerInput<Id, I, In>, CallerOutput<Id, O, Out>>;
}

/** Where a schema or `Functions` says what the handler gets, its own annotation does not count. */
type HandlerPayload<Id extends string, I, In> = I extends StandardSchema
  ? OutputOf<I>
  : Id extends keyof Functions
    ? PayloadOf<Id>
    : In;

/** What a handler may return. */
type HandlerOutput<Id extends string, O> = O extends StandardSchema
  ? InputOf<O>
  : Id extends keyof Functions
    ? ResultOf<Id>
    : unknown;

type CallerInput<Id extends string, I, In> = I extends StandardSchema
  ? InputOf<I>
  : Id extends keyof Functions
    ? PayloadOf<Id>
    : In;

type CallerOutput<Id extends string, O, Out> = O extends StandardSchema
  ? OutputOf<O>
  : Id extends keyof Functions
    ? ResultOf<Id>
    : Out;
