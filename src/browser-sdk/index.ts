// The public door of `svc-browser-sdk`.

import type { SvcWorker } from '../sdk/svc-worker.ts';
import { Worker } from '../sdk/worker.ts';
import { createFeatures } from './features-browser.ts';
import { LateParts } from './late-parts.ts';
import { type BrowserOptions, refuseForeign } from './options.ts';
import { createPlatform } from './platform-browser.ts';

/**
 * Connects the page to the engine and returns at once; what is registered or called before the connection stands waits
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
  const parts = new LateParts();
  const platform = createPlatform(options.auth, (events) => parts.holdBack(events));
  return new Worker(url, options, platform, createFeatures(parts));
}

export {
  type Action,
  Enqueue,
  type EnqueueCall,
  type EnqueueOptions,
  type EnqueueReceipt,
  Void,
  type VoidCall,
} from '../sdk/actions.ts';
export type { TraceIds } from '../sdk/baggage.ts';
export type { CallOptions, RetryOptions, TriggerRequest } from '../sdk/call-options.ts';
export type { ChannelReader } from '../sdk/channel-reader.ts';
export type { ChannelRef } from '../sdk/channel-ref.ts';
export type { ChannelWriter } from '../sdk/channel-writer.ts';
export type { Channel, ChannelOptions } from '../sdk/channels.ts';
export type { ConnectionState } from '../sdk/connection.ts';
export type { HandlerContext, TriggerOrigin } from '../sdk/context.ts';
export {
  isEnqueueRefused,
  isFunctionNotFound,
  isInvocationStopped,
  isOverloaded,
  isRefused,
  isSvcError,
  isTimeout,
  type RemoteFailure,
  SvcError,
  type SvcErrorDetails,
} from '../sdk/errors.ts';
export type { Rejection, WorkerEvents } from '../sdk/events.ts';
export type { FunctionDefinition, RegisteredFunction } from '../sdk/function-definition.ts';
// All of it, not by name: users extend `Functions` by merging with this module, which only reaches what is
// exported this way.
export * from '../sdk/functions.ts';
export { Fatal, RetryLater } from '../sdk/job-errors.ts';
export type { JsonSchema } from '../sdk/json-schema.ts';
export type { Logger, LoggerLevel } from '../sdk/logger.ts';
export type { IncomingCall, Middleware, OutgoingCall } from '../sdk/middleware.ts';
export type { DeadLetter, DeadLetterQueue, QueuedJob, SvcQueue } from '../sdk/queue-client.ts';
export type { Schema } from '../sdk/schema.ts';
export type { StandardIssue, StandardResult, StandardSchema } from '../sdk/standard-schema.ts';
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
} from '../sdk/state-client.ts';
export type { StreamChange, StreamEvent } from '../sdk/stream-items.ts';
export type { StreamHandlers, StreamSubscription, SubscribeOptions } from '../sdk/stream-subscription.ts';
export type { StreamGroup, StreamUpdate, SvcStream } from '../sdk/streams.ts';
export type { SvcWorker } from '../sdk/svc-worker.ts';
export type {
  RegisteredTrigger,
  RegisteredTriggerType,
  TriggerBinding,
  TriggerConfigs,
  TriggerDefinition,
  TriggerTypeDefinition,
  TriggerTypeProvider,
} from '../sdk/trigger-definition.ts';
export {
  type CronTick,
  type CronTrigger,
  type CronTriggerOptions,
  cron,
  type EventTrigger,
  event,
} from '../sdk/trigger-kinds.ts';
export { ops, type UpdateError, type UpdateOp } from '../sdk/update-ops.ts';
export type { BrowserOptions } from './options.ts';
