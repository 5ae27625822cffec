// Triggers on HTTP requests, schedules and events: their definition, and the payloads of schedules and events. The
// requests and answers of HTTP are in `http.ts`.

/**
 * The methods that a route accepts.
 *
 * @example
 * import { http, type HttpMethod } from 'svc-sdk';
 *
 * const methods: readonly HttpMethod[] = ['GET', 'HEAD'];
 * console.log(methods.map((method) => http(method, '/orders')));
 */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD' | 'OPTIONS';

/**
 * Further options of an HTTP trigger.
 *
 * @example
 * import { http, type HttpTriggerOptions } from 'svc-sdk';
 *
 * const options: HttpTriggerOptions = { middleware_function_ids: ['auth::check'] };
 * console.log(http('POST', '/orders', options));
 */
export interface HttpTriggerOptions {
  /** Called with the request; if it returns `false`, the answer is 422. */
  readonly condition_function_id?: string | undefined;
  /** Called in this order before the handler; each may answer instead. */
  readonly middleware_function_ids?: readonly string[] | undefined;
}

/**
 * Type and config of an HTTP trigger.
 *
 * @example
 * import { http, type HttpTrigger } from 'svc-sdk';
 *
 * const trigger: HttpTrigger = http('GET', '/users/:id');
 * console.log(trigger.config.api_path);
 */
export interface HttpTrigger {
  readonly type: 'http';
  readonly config: HttpTriggerOptions & { readonly api_path: string; readonly http_method: HttpMethod };
}

/**
 * An HTTP trigger for a method and a path; `:name` stands for one segment of it.
 *
 * @example
 * import { http, registerWorker, type HttpReply, type HttpRequest } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const show = svc.registerFunction('users::show', ({ path_params }: HttpRequest): HttpReply => ({
 *   status_code: 200,
 *   body: { id: path_params.id },
 * }));
 * svc.registerTrigger({ ...http('GET', '/users/:id'), function_id: show });
 */
export function http(method: HttpMethod, path: string, options: HttpTriggerOptions = {}): HttpTrigger {
  return { type: 'http', config: { ...options, api_path: path, http_method: method } };
}

/**
 * Further options of a cron trigger.
 *
 * @example
 * import { cron, type CronTriggerOptions } from 'svc-sdk';
 *
 * const options: CronTriggerOptions = { timezone: 'Europe/Berlin', misfire: 'once', overlap: false };
 * console.log(cron('0 30 3 * * *', options));
 */
export interface CronTriggerOptions {
  /** IANA name; default UTC. */
  readonly timezone?: string | undefined;
  /** `once`: one run at the engine's start if a tick of the last hour was missed. */
  readonly misfire?: 'skip' | 'once' | undefined;
  /** `false`: no tick starts while one is still running. */
  readonly overlap?: boolean | undefined;
  /** Each tick becomes a job of this queue, stored and retried. Without a queue the function is called. */
  readonly queue?: string | undefined;
  /** Called with the tick; `false` skips it. */
  readonly condition_function_id?: string | undefined;
}

/**
 * Type and config of a cron trigger.
 *
 * @example
 * import { cron, type CronTrigger } from 'svc-sdk';
 *
 * const trigger: CronTrigger = cron('@daily');
 * console.log(trigger.config.expression);
 */
export interface CronTrigger {
  readonly type: 'cron';
  readonly config: CronTriggerOptions & { readonly expression: string };
}

/**
 * A cron trigger: five fields, six with seconds first, or seven with the year last. An invalid expression is refused at
 * the registration, with field and position.
 *
 * @example
 * import { cron, type CronTick, registerWorker } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const build = svc.registerFunction('reports::build', ({ scheduled_time }: CronTick) => console.log(scheduled_time));
 * svc.registerTrigger({ ...cron('0 30 3 * * MON-FRI', { timezone: 'Europe/Berlin' }), function_id: build });
 */
export function cron(expression: string, options: CronTriggerOptions = {}): CronTrigger {
  return { type: 'cron', config: { expression, ...options } };
}

/**
 * The payload of a cron trigger's handler.
 *
 * @example
 * import type { CronTick } from 'svc-sdk';
 *
 * export const isLate = (tick: CronTick) => Date.parse(tick.actual_time) - Date.parse(tick.scheduled_time) > 1_000;
 */
export interface CronTick {
  readonly trigger: 'cron';
  /** Id of the trigger. */
  readonly job_id: string;
  /** RFC 3339, UTC. */
  readonly scheduled_time: string;
  readonly actual_time: string;
  /** Set if a person fired it by hand. */
  readonly manual?: true;
}

/**
 * Type and config of an event trigger.
 *
 * @example
 * import { event, type EventTrigger } from 'svc-sdk';
 *
 * const trigger: EventTrigger = event('user.*');
 * console.log(trigger.config.topic);
 */
export interface EventTrigger {
  readonly type: 'event';
  readonly config: { readonly topic: string; readonly condition_function_id?: string | undefined };
}

/**
 * An event trigger: its function gets the data of every event of the topic; `*` stands for any run of characters.
 *
 * @example
 * import { event, registerWorker } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const welcome = svc.registerFunction('mail::welcome', ({ id }: { id: number }) => console.log('welcome', id));
 * svc.registerTrigger({ ...event('user.created'), function_id: welcome });
 */
export function event(topic: string, options: { readonly condition_function_id?: string } = {}): EventTrigger {
  return { type: 'event', config: { topic, ...options } };
}
