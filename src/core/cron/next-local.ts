// The next local time of an expression, in a calendar without time zones.
//
// A "local" time is written as the Unix milliseconds it would be in UTC. All times are whole seconds.

import type { CronTimes, DayRule } from './expression.ts';
import { SECOND_MS } from './time-zone.ts';

/** A 29 February on a given weekday comes after 40 years at most; a time that does not come within this never comes. */
const HORIZON_YEARS = 48;

/** The first such time after `afterMs`; undefined when there is none. */
export function nextLocal(times: CronTimes, afterMs: number): number | undefined {
  const from = new Date((Math.floor(afterMs / SECOND_MS) + 1) * SECOND_MS);
  const [year, month, day] = [from.getUTCFullYear(), from.getUTCMonth() + 1, from.getUTCDate()];
  if (isDay(times, year, month, day)) {
    const time = timeFrom(times, from.getUTCHours(), from.getUTCMinutes(), from.getUTCSeconds());
    if (time !== undefined) return Date.UTC(year, month - 1, day) + time;
  }
  const midnight = nextDay(times, year, month, day + 1);
  return midnight === undefined ? undefined : midnight + firstTime(times);
}

/** The first day that matches, from this one on, as its midnight. */
function nextDay(times: CronTimes, firstYear: number, firstMonth: number, firstDay: number): number | undefined {
  const { years, months } = times;
  const lastYear = years === undefined ? firstYear + HORIZON_YEARS : (years.at(-1) ?? 0);
  for (let year = firstYear; year <= lastYear; year++) {
    if (years !== undefined && !years.includes(year)) continue;
    for (const month of months) {
      if (year === firstYear && month < firstMonth) continue;
      const shape = monthOf(year, month);
      const begin = year === firstYear && month === firstMonth ? firstDay : 1;
      for (let day = begin; day <= shape.length; day++) {
        if (isDayOfRule(times.days, shape, day)) return Date.UTC(year, month - 1, day);
      }
    }
  }
  return undefined;
}

function isDay(times: CronTimes, year: number, month: number, day: number): boolean {
  if (times.years !== undefined && !times.years.includes(year)) return false;
  return times.months.includes(month) && isDayOfRule(times.days, monthOf(year, month), day);
}

interface Month {
  readonly length: number;
  /** Day of the week of the year's first day. */
  readonly weekday: number;
}

function monthOf(year: number, month: number): Month {
  return { length: daysIn(year, month), weekday: new Date(Date.UTC(year, month - 1, 1)).getUTCDay() };
}

function isDayOfRule({ combine, monthdays, weekdays }: DayRule, month: Month, day: number): boolean {
  const { length } = month;
  const fitsMonth = monthdays === undefined || monthdays.days.has(day) || (monthdays.hasLast && day === length);
  if (weekdays === undefined) return fitsMonth;
  const weekday = (month.weekday + day - 1) % 7;
  const fitsWeek =
    weekdays.days.has(weekday) ||
    weekdays.nth.some(
      (wanted) =>
        wanted.weekday === weekday && (wanted.nth === -1 ? day > length - 7 : Math.ceil(day / 7) === wanted.nth),
    );
  if (monthdays === undefined) return fitsWeek;
  return combine === 'both' ? fitsMonth && fitsWeek : fitsMonth || fitsWeek;
}

/** The first of the times of a day at or after this one, as milliseconds since midnight. */
function timeFrom({ hours, minutes, seconds }: CronTimes, hour: number, minute: number, second: number) {
  for (const h of hours) {
    if (h < hour) continue;
    for (const m of minutes) {
      if (h === hour && m < minute) continue;
      for (const s of seconds) {
        if (h === hour && m === minute && s < second) continue;
        return msOf(h, m, s);
      }
    }
  }
  return undefined;
}

function firstTime({ hours, minutes, seconds }: CronTimes): number {
  return msOf(hours[0] ?? 0, minutes[0] ?? 0, seconds[0] ?? 0);
}

function msOf(hour: number, minute: number, second: number): number {
  return ((hour * 60 + minute) * 60 + second) * SECOND_MS;
}

/** In the first seven months the odd ones have 31 days, from August on the even ones. */
function daysIn(year: number, month: number): number {
  return month === 2 ? 28 + Number(isLeap(year)) : 30 + ((month + (month >> 3)) & 1);
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
