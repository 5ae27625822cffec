// Triggers on changes: state, streams and the log.

import type { LoggerLevel } from '../telemetry/telemetry.ts';

/** Called first; if it returns `false`, the function is not called. */
interface Conditional {
  readonly condition_function_id?: string | undefined;
}

interface Queued extends Conditional {
  /** Each change becomes a job of this queue, written together with it. Without a queue the function is called. */
  readonly queue?: string | undefined;
}

/**
 * Further options of a state trigger.
 *
 * @example
 * import { onState, type StateTriggerOptions } from 'svc-sdk';
 *
 * const options: StateTriggerOptions = { key: 'limits' };
 * console.log(onState('shop', options));
 */
export interface StateTriggerOptions extends Queued {
  /** Only this key. */
  readonly key?: string | undefined;
}

/**
 * Type and config of a state trigger.
 *
 * @example
 * import { onState, type StateTrigger } from 'svc-sdk';
 *
 * const trigger: StateTrigger = onState('orders');
 * console.log(trigger.config.scope);
 */
export interface StateTrigger {
  readonly type: 'state';
  readonly config: StateTriggerOptions & { readonly scope?: string | undefined };
}

/**
 * A state trigger: its function gets every change of a scope, or of all scopes if none is named.
 *
 * @example
 * import { onState, registerWorker, type StateEvent } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const changed = svc.registerFunction('orders::changed', ({ key, new_value }: StateEvent<number>) => {
 *   console.log(key, new_value);
 * });
 * svc.registerTrigger({ ...onState('orders'), function_id: changed });
 */
export function onState(scope?: string, options: StateTriggerOptions = {}): StateTrigger {
  return { type: 'state', config: { ...(scope !== undefined && { scope }), ...options } };
}

/**
 * Further options of a stream trigger.
 *
 * @example
 * import { onStream, type StreamTriggerOptions } from 'svc-sdk';
 *
 * const options: StreamTriggerOptions = { group_id: 'room1', include_events: true };
 * console.log(onStream('chat', options));
 */
export interface StreamTriggerOptions extends Queued {
  /** Only this group. */
  readonly group_id?: string | undefined;
  /** Only this item. */
  readonly item_id?: string | undefined;
  /** Includes custom events of `send`. */
  readonly include_events?: boolean | undefined;
}

/**
 * Type and config of a stream trigger.
 *
 * @example
 * import { onStream, type StreamTrigger } from 'svc-sdk';
 *
 * const trigger: StreamTrigger = onStream('chat');
 * console.log(trigger.config.stream_name);
 */
export interface StreamTrigger {
  readonly type: 'stream';
  readonly config: StreamTriggerOptions & { readonly stream_name: string };
}

/**
 * A stream trigger: its function gets every change of the stream's items.
 *
 * @example
 * import { onStream, registerWorker, type StreamTriggerEvent } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const said = svc.registerFunction('chat::said', ({ groupId, event }: StreamTriggerEvent<{ text: string }>) => {
 *   console.log(groupId, event.type, event.data);
 * });
 * svc.registerTrigger({ ...onStream('chat', { group_id: 'room1' }), function_id: said });
 */
export function onStream(stream: string, options: StreamTriggerOptions = {}): StreamTrigger {
  return { type: 'stream', config: { stream_name: stream, ...options } };
}

/**
 * The payload of a stream trigger's handler for a change.
 *
 * @example
 * import type { StreamTriggerEvent } from 'svc-sdk';
 *
 * export const isNew = ({ event }: StreamTriggerEvent<unknown>) => event.type === 'create';
 */
export interface StreamTriggerEvent<T> {
  readonly type: 'create' | 'update' | 'delete';
  /** Unix milliseconds. */
  readonly timestamp: number;
  readonly streamName: string;
  readonly groupId: string;
  /** The id of the item. */
  readonly id: string;
  readonly event: { readonly type: 'create' | 'update' | 'delete'; readonly data: T };
}

/**
 * The payload of that handler for a custom event of `send`, with `include_events`.
 *
 * @example
 * import type { StreamTriggerCustomEvent } from 'svc-sdk';
 *
 * export const whoTypes = ({ event }: StreamTriggerCustomEvent<string>) => event.event.data;
 */
export interface StreamTriggerCustomEvent<T> {
  readonly type: 'event';
  /** Unix milliseconds. */
  readonly timestamp: number;
  readonly streamName: string;
  readonly groupId: string;
  readonly event: { readonly type: 'event'; readonly event: { readonly type: string; readonly data: T } };
}

/**
 * Further options of a log trigger.
 *
 * @example
 * import { type LogTriggerOptions, onLog } from 'svc-sdk';
 *
 * const options: LogTriggerOptions = { level: 'error' };
 * console.log(onLog(options));
 */
export interface LogTriggerOptions extends Conditional {
  /** Only records of exactly this level. */
  readonly level?: LoggerLevel | 'all' | undefined;
}

/**
 * Type and config of a log trigger.
 *
 * @example
 * import { type LogTrigger, onLog } from 'svc-sdk';
 *
 * const trigger: LogTrigger = onLog({ level: 'warn' });
 * console.log(trigger.config.level);
 */
export interface LogTrigger {
  readonly type: 'log';
  readonly config: LogTriggerOptions;
}

/**
 * A log trigger: its function gets every record, or those of one level. Records of the function itself fire nothing.
 *
 * @example
 * import { onLog, registerWorker } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const page = svc.registerFunction('ops::page', ({ body }: { body: string }) => console.log(body));
 * svc.registerTrigger({ ...onLog({ level: 'error' }), function_id: page });
 */
export function onLog(options: LogTriggerOptions = {}): LogTrigger {
  return { type: 'log', config: { ...options } };
}

/**
 * Further options of a queue trigger: the settings of the queue between the topic and this function, see queues.md.
 *
 * @example
 * import { onQueue, type QueueTriggerOptions } from 'svc-sdk';
 *
 * const options: QueueTriggerOptions = { queue_config: { max_retries: 5, concurrency: 2 } };
 * console.log(onQueue('orders', options));
 */
export interface QueueTriggerOptions extends Conditional {
  readonly queue_config?: object | undefined;
}

/**
 * Type and config of a queue trigger.
 *
 * @example
 * import { onQueue, type QueueTrigger } from 'svc-sdk';
 *
 * const trigger: QueueTrigger = onQueue('orders');
 * console.log(trigger.config.topic);
 */
export interface QueueTrigger {
  readonly type: 'durable:subscriber';
  readonly config: QueueTriggerOptions & { readonly topic: string };
}

/**
 * A queue trigger: its function gets each message of a topic as a job of its own, stored and retried.
 *
 * @example
 * import { onQueue, registerWorker } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * svc.registerFunction('stock::reserve', { trigger: onQueue('orders') }, ({ sku }: { sku: string }) => ({ sku }));
 */
export function onQueue(topic: string, options: QueueTriggerOptions = {}): QueueTrigger {
  return { type: 'durable:subscriber', config: { topic, ...options } };
}
