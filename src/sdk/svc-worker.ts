// The object users hold. What it does is in `worker.ts`; this file is what they read.

import type { Trigger } from './call-options.ts';
import type { Channel, ChannelOptions } from './channels.ts';
import type { ConnectionState } from './connection.ts';
import type { WorkerEvents } from './events.ts';
import type { RegisterFunction } from './function-definition.ts';
import type { Logger } from './logger.ts';
import type { Middleware } from './middleware.ts';
import type { SvcQueue } from './queue-client.ts';
import type { StateClient } from './state-client.ts';
import type { SvcStream } from './streams.ts';
import type {
  RegisteredTrigger,
  RegisteredTriggerType,
  TriggerDefinition,
  TriggerTypeDefinition,
  TriggerTypeProvider,
} from './trigger-definition.ts';

/**
 * A connection to the engine: offers functions, calls functions. It reconnects by itself and registers everything
 * again.
 *
 * @example
 * import { registerWorker, type SvcWorker } from 'svc-sdk';
 *
 * const svc: SvcWorker = registerWorker('ws://127.0.0.1:49134', { worker_name: 'orders' });
 * svc.registerFunction('orders::count', () => 42);
 * await svc.ready();
 */
export interface SvcWorker {
  /** The name it announced itself under. */
  readonly name: string;
  /** The id the engine gave the present connection; undefined while there is none. */
  readonly id: string | undefined;
  /** Whether there is a connection right now. */
  readonly state_of_connection: ConnectionState;

  /**
   * Offers a function. With a Standard Schema as `input`, or an entry in `Functions`, the handler's payload is
   * typed; otherwise write the type yourself or leave it out.
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
  registerTrigger<Type extends string>(definition: TriggerDefinition<Type>): RegisteredTrigger;

  /**
   * Provides a trigger type of its own: the engine hands over every binding of it.
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
   * Calls a function and returns its result; with `Enqueue`, the receipt; with `Void`, nothing. Without a
   * connection the call waits for one, up to its own deadline; 1 000 calls may, or 16 MiB of them, and one more fails
   * with `OVERLOADED`.
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

  /** Logs in the name of whichever handler runs, else of this worker. */
  readonly logger: Logger;

  /** Values kept by the engine, by scope and key. */
  readonly state: StateClient;

  /**
   * Publishes an event: every function bound to its topic is called with the data, and not waited for. Resolves when
   * the engine has handed it on.
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
   * Makes a channel: a pipe for bytes and texts beside the calls, for what is too large for a payload or not all there
   * yet. References to its ends may stand anywhere in payloads and results; whoever gets one, gets a live end.
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
   * Puts a middleware around all handlers and all outgoing calls of this worker, inside those already there.
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
   * A queue by its name: its jobs and its dead letters. Nothing is asked of the engine yet.
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
   * Listens to an event; the returned function ends it.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const stop = registerWorker().on('rejected', ({ error }) => console.error(error.message));
   * stop();
   */
  on<Name extends keyof WorkerEvents>(name: Name, listener: (detail: WorkerEvents[Name]) => void): () => void;

  /**
   * Resolves when the worker is connected, at once if it is. Rejects when the engine refuses the credentials, and
   * when the worker is shut down.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * await registerWorker().ready();
   */
  ready(): Promise<void>;

  /**
   * Ends the worker: withdraws its functions, lets handlers finish up to `drain_timeout_ms`, aborts the `signal` of
   * those that did not, and closes the connection. Calling it again waits for the same end.
   *
   * @example
   * import { registerWorker } from 'svc-sdk';
   *
   * const svc = registerWorker(undefined, { handle_signals: false });
   * await svc.shutdown();
   */
  shutdown(): Promise<void>;
}
