// The trigger type `cron`: its config, and the payload of its handlers.

import { readExpression } from '../../core/cron/expression.ts';
import { Schedule } from '../../core/cron/schedule.ts';
import { TimeZone } from '../../core/cron/time-zone.ts';
import type { TriggerTypeSpec } from '../../core/registry/trigger-table.ts';
import { rawJson } from '../../protocol/json/byte-string.ts';
import { readTriggerConfig } from '../trigger-config.ts';
import { triggerConfig } from './config.ts';
import { cronLibrary } from './cron-parser.ts';

export const CRON_TYPE = 'cron';

export const CRON_TRIGGER_SPEC: TriggerTypeSpec = {
  description: 'Fires when its expression is due',
  configFormat: rawJson({
    type: 'object',
    properties: {
      expression: { type: 'string', description: 'Five, six (second first) or seven fields (year last), or @daily' },
      timezone: { type: 'string', description: 'IANA name; UTC if omitted' },
      misfire: { enum: ['skip', 'once'], description: 'once: one run at start if a tick of the last hour was missed' },
      overlap: { type: 'boolean', description: 'false: no tick starts while one still runs' },
      queue: { type: 'string', description: 'Each tick becomes a job of this queue, kept until it has run' },
      condition_function_id: { type: 'string' },
    },
    required: ['expression'],
    additionalProperties: false,
  }),
  payloadFormat: rawJson({
    type: 'object',
    properties: {
      trigger: { const: 'cron' },
      job_id: { type: 'string', description: 'Id of the trigger' },
      scheduled_time: { type: 'string', format: 'date-time' },
      actual_time: { type: 'string', format: 'date-time' },
      manual: { const: true, description: 'The trigger was fired by hand' },
    },
    required: ['trigger', 'job_id', 'scheduled_time', 'actual_time'],
  }),
};

/** The parsed config of a trigger. */
export interface CronPlan {
  readonly schedule: Schedule;
  readonly misfire: 'skip' | 'once';
  readonly overlaps: boolean;
  readonly queue: string | undefined;
}

export type ReadPlan = { readonly ok: true; readonly plan: CronPlan } | { readonly ok: false; readonly reason: string };

export function readPlan(config: unknown, nowMs: number): ReadPlan {
  const read = readTriggerConfig(CRON_TYPE, triggerConfig, config);
  if (!read.ok) return read;
  const { expression, timezone, misfire, overlap, queue } = read.config;
  const times = readExpression(expression, cronLibrary());
  if (!times.ok) return times;
  const zone = TimeZone.read(timezone);
  if (!zone.ok) return zone;
  const schedule = new Schedule(times.times, zone.zone);
  if (schedule.next(nowMs) === undefined) {
    return {
      ok: false,
      reason: `The cron expression '${expression}' is never due: no day matches, or its years have passed`,
    };
  }
  return { ok: true, plan: { schedule, misfire, overlaps: overlap, queue } };
}

export interface CronPayload {
  readonly trigger: 'cron';
  readonly job_id: string;
  readonly scheduled_time: string;
  readonly actual_time: string;
  readonly manual?: true;
}

export function cronPayload(jobId: string, atMs: number, nowMs: number, isManual = false): CronPayload {
  return {
    trigger: 'cron',
    job_id: jobId,
    scheduled_time: new Date(atMs).toISOString(),
    actual_time: new Date(nowMs).toISOString(),
    ...(isManual && { manual: true }),
  };
}
