// Triggers by the calendar and by events: how they are asked for, and what their handlers get.

/**
 * What else a cron trigger may say.
 *
 * @example
 * import { cron, type CronTriggerOptions } from 'svc-sdk';
 *
 * const options: CronTriggerOptions = { timezone: 'Europe/Berlin', misfire: 'once', overlap: false };
 * console.log(cron('0 30 3 * * *', options));
 */
export interface CronTriggerOptions {
  /** IANA name; UTC when left out. */
  readonly timezone?: string | undefined;
  /** `once`: one run at the engine's start if a tick of the last hour was missed. */
  readonly misfire?: 'skip' | 'once' | undefined;
  /** `false`: no tick starts while one still runs. */
  readonly overlap?: boolean | undefined;
  /** Each tick becomes a job of this queue, kept and tried again; otherwise the function is called. */
  readonly queue?: string | undefined;
  /** Asked with the tick; `false` skips it. */
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
 * A cron trigger: five fields, six with the second first, or seven with the year last. An expression that cannot be
 * read is refused at the registration, with field and place.
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
 * What the handler of a cron trigger gets.
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
  /** Somebody fired it by hand. */
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
