// The public entry point of `svc-sdk` for Node.

import { nodeFeatures } from './node/features-node.ts';
import { defaultUrl, nodePlatform, withAddresses, withOwnToken, withTls } from './node/platform-node.ts';
import type { WorkerOptions } from './worker/options.ts';
import type { SvcWorker } from './worker/svc-worker.ts';
import { Worker } from './worker/worker.ts';

/**
 * Connects to the engine and returns at once. Registrations and calls made before the connection is up wait for it. The
 * address is `SVC_URL`, else ws://127.0.0.1:49134. Several addresses, separated by commas, are those of engines of one
 * cluster: when the connection ends, the worker connects to the next one.
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
  const urls = url.split(/,(?=wss?:)/);
  const platform = withAddresses(withTls(nodePlatform, url, options), urls);
  return new Worker(urls[0] ?? url, withOwnToken(url, options), platform, nodeFeatures);
}

export {
  type Action,
  Enqueue,
  type EnqueueCall,
  type EnqueueOptions,
  type EnqueueReceipt,
  Void,
  type VoidCall,
} from './calls/actions.ts';
export type { CallOptions, RetryOptions, TriggerRequest } from './calls/call-types.ts';
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
} from './calls/errors.ts';
export type { TraceIds } from './calls/trace-context.ts';
export type { ChannelReader } from './channels/channel-reader.ts';
export type { ChannelRef } from './channels/channel-ref.ts';
export type { ChannelWriter } from './channels/channel-writer.ts';
export type { Channel, ChannelOptions } from './channels/channels.ts';
export type { ConnectionState } from './connection/connection.ts';
export type { DeadLetter, DeadLetterQueue, QueuedJob, SvcQueue } from './data/queue-client.ts';
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
} from './data/state-client.ts';
export { ops, type UpdateError, type UpdateOp } from './data/update-ops.ts';
export type { FunctionDefinition, RegisteredFunction } from './functions/function-definition.ts';
// All of it, not by name: users extend `Functions` by merging with this module, and merging only reaches exports of
// this kind.
export * from './functions/functions.ts';
export type { JsonSchema, Schema, StandardIssue, StandardResult, StandardSchema } from './functions/schema.ts';
export type { StreamChange, StreamEvent } from './streams/stream-items.ts';
export type { StreamHandlers, StreamSubscription, SubscribeOptions } from './streams/stream-subscription.ts';
export type { StreamGroup, StreamUpdate, SvcStream } from './streams/streams.ts';
export type { Logger, LoggerLevel } from './telemetry/telemetry.ts';
export {
  type LogTrigger,
  type LogTriggerOptions,
  onLog,
  onQueue,
  onState,
  onStream,
  type QueueTrigger,
  type QueueTriggerOptions,
  type StateTrigger,
  type StateTriggerOptions,
  type StreamTrigger,
  type StreamTriggerCustomEvent,
  type StreamTriggerEvent,
  type StreamTriggerOptions,
} from './triggers/data-triggers.ts';
export { HttpAnswer, streamed } from './triggers/http.ts';
export type { HttpHeaders, HttpReply, HttpRequest } from './triggers/http-messages.ts';
// All of it, so that a program can add its own types by merging.
export * from './triggers/trigger-configs.ts';
export type {
  FunctionTrigger,
  RegisteredTrigger,
  RegisteredTriggerType,
  TriggerBinding,
  TriggerDefinition,
  TriggerTypeDefinition,
  TriggerTypeProvider,
} from './triggers/trigger-definition.ts';
export {
  type CronTick,
  type CronTrigger,
  type CronTriggerOptions,
  cron,
  type EventTrigger,
  event,
  type HttpMethod,
  type HttpTrigger,
  type HttpTriggerOptions,
  http,
} from './triggers/trigger-kinds.ts';
export type { Rejection, WorkerEvents } from './worker/events.ts';
export type {
  Handler,
  HandlerContext,
  IncomingCall,
  Middleware,
  OutgoingCall,
  TriggerOrigin,
} from './worker/handler.ts';
export type { TlsOptions, WorkerOptions } from './worker/options.ts';
export type { SvcWorker } from './worker/svc-worker.ts';
