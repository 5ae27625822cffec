// Triggers on schedules and events: their definition, and the payloads of their handlers.

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
