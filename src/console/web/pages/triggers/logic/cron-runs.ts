// The next runs of a cron trigger, computed by the engine's own code (TRG-4).

import { CronExpressionParser } from 'cron-parser';
import { readExpression } from '../../../../../core/cron/expression.ts';
import { Schedule } from '../../../../../core/cron/schedule.ts';
import { TimeZone } from '../../../../../core/cron/time-zone.ts';

export type NextRuns =
  | { readonly ok: true; readonly runs: readonly number[] }
  | { readonly ok: false; readonly reason: string };

export function nextRuns(expression: string, timezone: string, afterMs: number, count: number): NextRuns {
  const times = readExpression(expression, CronExpressionParser);
  if (!times.ok) return times;
  const zone = TimeZone.read(timezone);
  if (!zone.ok) return zone;
  const schedule = new Schedule(times.times, zone.zone);
  const runs: number[] = [];
  let last = afterMs;
  while (runs.length < count) {
    const next = schedule.next(last);
    if (next === undefined) break;
    runs.push(next);
    last = next;
  }
  return { ok: true, runs };
}
