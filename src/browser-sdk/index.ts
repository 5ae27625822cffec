// The public entry point of `svc-browser-sdk`.

import { SvcError } from '../sdk/calls/errors.ts';
import type { WorkerOptions } from '../sdk/worker/options.ts';
import type { SvcWorker } from '../sdk/worker/svc-worker.ts';
import { Worker } from '../sdk/worker/worker.ts';
import { createFeatures } from './features-browser.ts';
import { PartLoader } from './part-loader.ts';
import { createPlatform } from './platform-browser.ts';

/**
 * Connects the page to the engine and returns at once. Registrations and calls made before the connection is up wait
 * for it. One worker is enough for a page.
 *
 * @example
 * import { registerWorker } from 'svc-browser-sdk';
 *
 * const svc = registerWorker('wss://svc.example:49135', { auth: async () => (await fetch('/token')).text() });
 * svc.registerFunction('ui::notify', ({ text }: { text: string }) => alert(text));
 * console.log(await svc.trigger({ function_id: 'api::greeting', payload: { name: 'Ann' } }));
 */
export function registerWorker(url: string, options: BrowserOptions = {}): SvcWorker {
  refuseForeign(options);
  const loader = new PartLoader();
  const platform = createPlatform(options.auth, (events) => loader.holdBack(events));
  return new Worker(url, options, platform, createFeatures(loader));
}

export {
  type Action,
  Enqueue,
  type EnqueueCall,
  type EnqueueOptions,
  type EnqueueReceipt,
  Void,
  type VoidCall,
} from '../sdk/calls/actions.ts';
export type { CallOptions, RetryOptions, TriggerRequest } from '../sdk/calls/call-types.ts';
export {
  Fatal,
  isEnqueueRefused,
  isFunctionNotFound,
  isInvocationStopped,
  isOverloaded,
  isRefused,
  isSvcError,
  isTimeout,
  type RemoteFailure,
  RetryLater,
  SvcError,
  type SvcErrorDetails,
} from '../sdk/calls/errors.ts';
export type { TraceIds } from '../sdk/calls/trace-context.ts';
export type { ChannelReader } from '../sdk/channels/channel-reader.ts';
export type { ChannelRef } from '../sdk/channels/channel-ref.ts';
export type { ChannelWriter } from '../sdk/channels/channel-writer.ts';
export type { Channel, ChannelOptions } from '../sdk/channels/channels.ts';
export type { ConnectionState } from '../sdk/connection/connection.ts';
export type { DeadLetter, DeadLetterQueue, QueuedJob, SvcQueue } from '../sdk/data/queue-client.ts';
export type {
  StateChange,
  StateClient,
  StateCondition,
  StateEntry,
  StateEvent,
  StateFilter,
  StateListOptions,
  StateUpdate,
  StateVersion,
  StateWatch,
} from '../sdk/data/state-client.ts';
export { ops, type UpdateError, type UpdateOp } from '../sdk/data/update-ops.ts';
export type { FunctionDefinition, RegisteredFunction } from '../sdk/functions/function-definition.ts';
// All of it, not by name: users extend `Functions` by merging with this module, and merging only reaches exports of
// this kind.
export * from '../sdk/functions/functions.ts';
export type { JsonSchema, Schema, StandardIssue, StandardResult, StandardSchema } from '../sdk/functions/schema.ts';
export type { StreamChange, StreamEvent } from '../sdk/streams/stream-items.ts';
export type { StreamHandlers, StreamSubscription, SubscribeOptions } from '../sdk/streams/stream-subscription.ts';
export type { StreamGroup, StreamUpdate, SvcStream } from '../sdk/streams/streams.ts';
export type { Logger, LoggerLevel } from '../sdk/telemetry/telemetry.ts';
// The same for types of triggers.
export * from '../sdk/triggers/trigger-configs.ts';
export type {
  FunctionTrigger,
  RegisteredTrigger,
  RegisteredTriggerType,
  TriggerBinding,
  TriggerDefinition,
  TriggerTypeDefinition,
  TriggerTypeProvider,
} from '../sdk/triggers/trigger-definition.ts';
export {
  type CronTick,
  type CronTrigger,
  type CronTriggerOptions,
  cron,
  type EventTrigger,
  event,
} from '../sdk/triggers/trigger-kinds.ts';
export type { Rejection, WorkerEvents } from '../sdk/worker/events.ts';
export type {
  Handler,
  HandlerContext,
  IncomingCall,
  Middleware,
  OutgoingCall,
  TriggerOrigin,
} from '../sdk/worker/handler.ts';
export type { SvcWorker } from '../sdk/worker/svc-worker.ts';

/**
 * Options of `registerWorker`.
 *
 * @example
 * import { registerWorker, type BrowserOptions } from 'svc-browser-sdk';
 *
 * const options: BrowserOptions = { worker_name: 'shop page', auth: async () => (await fetch('/token')).text() };
 * registerWorker('wss://svc.example:49135', options);
 */
export interface BrowserOptions extends Omit<WorkerOptions, 'headers' | 'token' | 'wire' | 'handle_signals' | 'tls'> {
  /**
   * Returns the token for the auth function of the engine's port; called before each connection. The token travels as
   * the subprotocols `Authorization, <token>`, whose only characters are letters, digits and !#$%&'*+.^_`|~-: base64url
   * fits.
   */
  readonly auth?: (() => string | Promise<string>) | undefined;
}

/** Without types, a user could believe that `token` or `headers` are sent: refuse them. */
function refuseForeign(options: object): void {
  for (const name of ['headers', 'token', 'wire', 'tls']) {
    if (!(name in options)) continue;
    throw new SvcError('INVALID_ARGUMENTS', `${name}: a page cannot choose it; give a token as auth: () => token`);
  }
}
