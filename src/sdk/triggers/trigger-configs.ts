// The configurations of trigger types, open for those that a program adds.

import type { LogTrigger, QueueTrigger, StateTrigger, StreamTrigger } from './data-triggers.ts';
import type { CronTrigger, EventTrigger, HttpMethod, HttpTriggerOptions } from './trigger-kinds.ts';

/**
 * The configuration of each trigger type, by its name. The compiler checks `type` and `config` of a trigger against it.
 * A type that one of your workers provides is declared once, by merging with this interface.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 *
 * declare module 'svc-sdk' {
 *   interface TriggerConfigs {
 *     webhook: { readonly path: string };
 *   }
 * }
 *
 * const svc = registerWorker();
 * svc.registerTrigger({ type: 'webhook', function_id: 'orders::paid', config: { path: '/paid' } });
 */
export interface TriggerConfigs {
  readonly http: HttpTriggerOptions & { readonly api_path: string; readonly http_method?: HttpMethod | undefined };
  readonly cron: CronTrigger['config'];
  readonly event: EventTrigger['config'];
  readonly state: StateTrigger['config'];
  readonly stream: StreamTrigger['config'];
  readonly log: LogTrigger['config'];
  readonly queue: QueueTrigger['config'];
  readonly 'durable:subscriber': QueueTrigger['config'];
  readonly subscribe: EventTrigger['config'];
  readonly 'stream:join': StreamJoinConfig;
  readonly 'stream:leave': StreamJoinConfig;
  readonly 'engine::functions-available': object;
  readonly 'engine::workers-available': object;
}

interface StreamJoinConfig {
  /** Only this stream. */
  readonly stream_name?: string | undefined;
  readonly condition_function_id?: string | undefined;
}
