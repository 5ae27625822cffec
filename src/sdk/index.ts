// The public door of `svc-sdk` for Node.

import { nodeFeatures } from './features-node.ts';
import type { WorkerOptions } from './options.ts';
import { defaultUrl, nodePlatform, withOwnToken } from './platform-node.ts';
import type { SvcWorker } from './svc-worker.ts';
import { Worker } from './worker.ts';

/**
 * Connects to the engine and returns at once; what is registered or called before the connection stands waits for
 * it. The address is `SVC_URL`, else ws://127.0.0.1:49134.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 *
 * const svc = registerWorker(process.env.SVC_URL, { worker_name: 'orders' });
 * const create = svc.registerFunction('orders::create', ({ sku }: { sku: string }) => ({ id: `order for ${sku}` }));
 * const { id } = await create.trigger({ sku: 'a1' });
 * console.log(id);
 */
export function registerWorker(url: string = defaultUrl(), options: WorkerOptions = {}): SvcWorker {
  return new Worker(url, withOwnToken(url, options), nodePlatform, nodeFeatures);
}

export {
  type Action,
  Enqueue,
  type EnqueueCall,
  type EnqueueOptions,
  type EnqueueReceipt,
  Void,
  type VoidCall,
} from './actions.ts';
export type { TraceIds } from './baggage.ts';
export type { CallOptions, RetryOptions, TriggerRequest } from './call-options.ts';
export type { ChannelReader } from './channel-reader.ts';
export type { ChannelRef } from './channel-ref.ts';
export type { ChannelWriter } from './channel-writer.ts';
export type { Channel, ChannelOptions } from './channels.ts';
export type { ConnectionState } from './connection.ts';
export type { HandlerContext, TriggerOrigin } from './context.ts';
export {
  type LogTrigger,
  type LogTriggerOptions,
  onLog,
  onState,
  onStream,
  type StateTrigger,
  type StateTriggerOptions,
  type StreamTrigger,
  type StreamTriggerCustomEvent,
  type StreamTriggerEvent,
  type StreamTriggerOptions,
} from './data-triggers.ts';
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
} from './errors.ts';
export type { Rejection, WorkerEvents } from './events.ts';
export type { FunctionDefinition, RegisteredFunction } from './function-definition.ts';
// All of it, not by name: users extend `Functions` by merging with this module, which only reaches what is
// exported this way.
export * from './functions.ts';
export {
  HttpAnswer,
  type HttpHeaders,
  type HttpMethod,
  type HttpReply,
  type HttpRequest,
  type HttpTrigger,
  type HttpTriggerOptions,
  http,
  streamed,
} from './http.ts';
export { Fatal, RetryLater } from './job-errors.ts';
export type { JsonSchema } from './json-schema.ts';
export type { Logger, LoggerLevel } from './logger.ts';
export type { IncomingCall, Middleware, OutgoingCall } from './middleware.ts';
export type { WorkerOptions } from './options.ts';
export type { DeadLetter, DeadLetterQueue, QueuedJob, SvcQueue } from './queue-client.ts';
export type { Schema } from './schema.ts';
export type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts';
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
} from './state-client.ts';
export type { StreamChange, StreamEvent } from './stream-items.ts';
export type { StreamHandlers, StreamSubscription, SubscribeOptions } from './stream-subscription.ts';
export type { StreamGroup, StreamUpdate, SvcStream } from './streams.ts';
export type { SvcWorker } from './svc-worker.ts';
export type {
  RegisteredTrigger,
  RegisteredTriggerType,
  TriggerBinding,
  TriggerConfigs,
  TriggerDefinition,
  TriggerTypeDefinition,
  TriggerTypeProvider,
} from './trigger-definition.ts';
export {
  type CronTick,
  type CronTrigger,
  type CronTriggerOptions,
  cron,
  type EventTrigger,
  event,
} from './trigger-kinds.ts';
export { ops, type UpdateError, type UpdateOp } from './update-ops.ts';
