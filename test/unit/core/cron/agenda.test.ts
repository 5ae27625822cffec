import { CronExpressionParser } from 'cron-parser';
import { expect, test } from 'vitest';
import { Agenda, type AgendaJob } from '../../../../src/core/cron/agenda.ts';
import { readExpression } from '../../../../src/core/cron/expression.ts';
import { Schedule } from '../../../../src/core/cron/schedule.ts';
import { TimeZone } from '../../../../src/core/cron/time-zone.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const DAY = 86_400_000;

test('[CR2] a day of missed ticks of a hundred triggers is counted up to a limit', () => {
  const agenda = new Agenda();
  const looks = Array.from({ length: 100 }, () => agenda.add(everySecond('once'), NOW, NOW - DAY));
  const missed = looks.flatMap((look) => look.missed);
  expect(missed.map(({ isAtLeast }) => isAtLeast)).toEqual(missed.map(() => true));
  expect(missed).toHaveLength(100);
  expect(missed.reduce((sum, { count }) => sum + count, 0)).toBeLessThan(3_000);
  // The last tick is still made up for.
  expect(looks.flatMap(({ runs }) => runs.map(({ atMs }) => atMs))).toEqual(missed.map(() => NOW));
});

test('[CR2] ticks missed within ten minutes are counted exactly', () => {
  const { missed, runs } = new Agenda().add(everySecond('skip'), NOW, NOW - 600_000);
  expect(missed).toMatchObject([{ count: 600, isAtLeast: false, lastMs: NOW }]);
  expect(runs).toEqual([]);
});

test('[CR3] [fault 47] after the clock is set forward by a day, missed ticks are counted up to a limit, and later ticks run', () => {
  const agenda = new Agenda();
  const jobs = Array.from({ length: 100 }, () => everySecond('skip'));
  agenda.look(NOW, 0);
  for (const job of jobs) agenda.add(job, NOW, undefined);
  const { missed, runs } = agenda.look(NOW + DAY, 500);
  expect(missed).toHaveLength(100);
  expect(missed.reduce((sum, { count }) => sum + count, 0)).toBeLessThan(3_000);
  expect(runs).toEqual([]);
  expect(agenda.look(NOW + DAY + 1_000, 1_500).runs.map(({ atMs }) => atMs)).toEqual(jobs.map(() => NOW + DAY + 1_000));
});

test('[CR1] a thousand ticks of one second run once each, in parts', () => {
  const agenda = new Agenda();
  const jobs = Array.from({ length: 1_000 }, () => everySecond('skip'));
  agenda.look(NOW, 0);
  for (const job of jobs) agenda.add(job, NOW, undefined);
  const run: AgendaJob[] = [];
  for (let ms = 0; agenda.nextMs === NOW + 1_000; ms++) {
    const { runs, missed } = agenda.look(NOW + 1_000 + ms, 1_000 + ms);
    expect(missed).toEqual([]);
    expect(runs.length).toBeLessThan(200);
    run.push(...runs.map(({ job }) => job));
  }
  expect(run).toHaveLength(1_000);
  expect(new Set(run)).toEqual(new Set(jobs));
});

test('[CR3] missed ticks are reported at once, for any number of triggers', () => {
  const agenda = new Agenda();
  agenda.look(NOW, 0);
  for (let job = 0; job < 1_000; job++) agenda.add(everySecond('once'), NOW, undefined);
  const { missed, runs } = agenda.look(NOW + DAY, 500);
  expect(missed).toHaveLength(1_000);
  expect(runs).toHaveLength(1_000);
  expect(agenda.nextMs).toBe(NOW + DAY + 1_000);
});

function everySecond(misfire: 'skip' | 'once'): AgendaJob {
  const [times, zone] = [readExpression('* * * * * *', CronExpressionParser), TimeZone.read('UTC')];
  if (!times.ok || !zone.ok) throw new Error('Every second is an expression');
  return { schedule: new Schedule(times.times, zone.zone), misfire, follows: false, dueMs: 0, heapIndex: -1 };
}
