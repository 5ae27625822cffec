import { CronExpressionParser } from 'cron-parser';
import { describe, expect, test } from 'vitest';
import { type CronTimes, readExpression } from '../../../../src/core/cron/expression.ts';
import { nextLocal } from '../../../../src/core/cron/next-local.ts';

function timesOf(expression: string): CronTimes {
  const read = readExpression(expression, CronExpressionParser);
  if (!read.ok) throw new Error(read.reason);
  return read.times;
}

/** The next times after the given one, as `2026-11-21T00:00:00`. */
function nextTimes(expression: string, count = 1, after = '2026-11-21T00:00:00'): string[] {
  const found: string[] = [];
  let at: number | undefined = Date.parse(`${after}Z`);
  for (let index = 0; index < count; index++) {
    at = at === undefined ? undefined : nextLocal(timesOf(expression), at);
    if (at !== undefined) found.push(new Date(at).toISOString().slice(0, 19));
  }
  return found;
}

function reasonOf(expression: string): string {
  const read = readExpression(expression, CronExpressionParser);
  if (read.ok) throw new Error(`'${expression}' was taken`);
  return read.reason;
}

describe('the times of an expression', () => {
  test.each([
    ['* * * * *', '2026-11-21T00:01:00'],
    ['*/5 * * * *', '2026-11-21T00:05:00'],
    ['30 3 * * *', '2026-11-21T03:30:00'],
    ['0 */5 * * * *', '2026-11-21T00:05:00'],
    ['* * * * * *', '2026-11-21T00:00:01'],
    ['7/20 * * * * *', '2026-11-21T00:00:07'],
    ['0 0 0 1 JAN *', '2027-01-01T00:00:00'],
    ['0 0 9 ? * MON-FRI', '2026-11-23T09:00:00'],
    ['0 0 0 1 1 ? 2030', '2030-01-01T00:00:00'],
    ['0 0 0 1 1 * 2030,2032', '2030-01-01T00:00:00'],
    ['0 0 0 29 2 * *', '2028-02-29T00:00:00'],
    ['0 0 12 L * *', '2026-11-30T12:00:00'],
    ['0 0 0 L 2 *', '2027-02-28T00:00:00'],
    ['0 0 0 * * 5L', '2026-11-27T00:00:00'],
    ['0 0 0 * * fri#2', '2026-12-11T00:00:00'],
    ['0 0 0 * * 1#5', '2026-11-30T00:00:00'],
    ['0 0 0 * * 1#1,fri#2', '2026-12-07T00:00:00'],
    ['0 0 0 * * fri-sun', '2026-11-22T00:00:00'],
    ['@hourly', '2026-11-21T01:00:00'],
    [' @Daily ', '2026-11-22T00:00:00'],
    ['@weekly', '2026-11-22T00:00:00'],
    ['@monthly', '2026-12-01T00:00:00'],
    ['@yearly', '2027-01-01T00:00:00'],
  ])('[modules 7] %s runs next at %s', (expression, expected) => {
    expect(nextTimes(expression)).toEqual([expected]);
  });

  test.each([
    [0, '2026-11-22'],
    [1, '2026-11-23'],
    [2, '2026-11-24'],
    [3, '2026-11-25'],
    [4, '2026-11-26'],
    [5, '2026-11-27'],
    [6, '2026-11-28'],
    [7, '2026-11-22'],
  ])('[PD-53] Weekday %d is the %s, in all three forms', (weekday, date) => {
    for (const form of [`0 0 * * ${weekday}`, `0 0 0 * * ${weekday}`, `0 0 0 * * ${weekday} *`]) {
      expect(nextTimes(form)).toEqual([`${date}T00:00:00`]);
    }
  });

  test('[PD-53] With day and weekday, five fields need one match, six and seven fields need both', () => {
    expect(nextTimes('0 0 13 * 5', 3)).toEqual(['2026-11-27T00:00:00', '2026-12-04T00:00:00', '2026-12-11T00:00:00']);
    expect(nextTimes('0 0 0 13 * 5', 2)).toEqual(['2027-08-13T00:00:00', '2028-10-13T00:00:00']);
    expect(nextTimes('0 0 0 13 * 5 2028')).toEqual(['2028-10-13T00:00:00']);
    expect(nextTimes('0 0 13 * ?')).toEqual(['2026-12-13T00:00:00']);
  });

  test('[PD-17] The seventh field is the year', () => {
    expect(nextTimes('0 0 0 1 * * 2026-2027', 20)).toHaveLength(13);
    expect(nextTimes('0 0 0 1 * * 2020')).toEqual([]);
    expect(nextTimes('0 0 0 1 1 * */50')).toEqual(['2070-01-01T00:00:00']);
  });

  test('[modules 7] A 29 February on a Monday is found 12 years later, even across the year 2100', () => {
    expect(nextTimes('0 0 0 29 2 mon')).toEqual(['2044-02-29T00:00:00']);
    expect(nextTimes('0 0 0 29 2 *', 1, '2097-01-01T00:00:00')).toEqual(['2104-02-29T00:00:00']);
  });

  test('[modules 7] A day that no calendar has never occurs', () => {
    expect(nextTimes('0 0 30 2 *')).toEqual([]);
    expect(nextTimes('0 0 0 1 * 1#3')).toEqual([]);
  });
});

describe('an error in an expression names the field and its position', () => {
  test.each([
    ['', 'has 0 fields'],
    ['* * * *', 'has 4 fields'],
    ['* * * * * * * *', 'has 8 fields'],
    ['60 * * * *', "the minute '60' at character 1 must be 0 to 59"],
    ['* * * * * * 1969', "the year '1969' at character 13 must be 1970 to 2199"],
    ['0 24 * * *', "the hour '24' at character 3 must be 0 to 23"],
    ['0 0 0 * *', "the day of month '0' at character 5 must be 1 to 31"],
    ['0 0 * 13 *', "the month '13' at character 7 must be 1 to 12 or jan to dec"],
    ['0 0 * foo *', "the month 'foo' at character 7"],
    ['0 0 * * 8', "the day of week '8' at character 9 must be 0 to 7 or sun to sat"],
    ['0  0  *  *  1,9', "the day of week '9' at character 15"],
    ['1,,2 * * * *', "the minute '' at character 3 holds nothing"],
    ['1,2, * * * *', "the minute '' at character 5 holds nothing"],
    ['5-1 * * * *', "the minute '5-1' at character 1 is a descending range"],
    ['1-2-3 * * * *', "the minute '1-2-3' at character 1 must be 0 to 59, a range"],
    ['1/2/3 * * * *', "the minute '1/2/3' at character 1 must be 0 to 59, a range"],
    ['*/0 * * * *', "has the step '0'"],
    ['*/60 * * * *', "has the step '60'"],
    ['*/x * * * *', "has the step 'x'"],
    ['? * * * *', "the minute '?'"],
    ['-1 * * * *', 'the minute'],
    ['1.5 * * * *', 'the minute'],
    ['0x1 * * * *', 'the minute'],
    ['1e1 * * * *', 'the minute'],
    ['٣ * * * *', 'the minute'],
    ['H * * * *', 'the minute'],
    ['0 0 * * L', 'needs a day before the L'],
    ['0 0 15W * *', 'not supported'],
    ['0 0 LW * *', 'not supported'],
    ['0 0 L-3 * *', 'not supported'],
    ['0 0 * * 1#6', 'a week of the month'],
    ['0 0 * * 1#0', 'a week of the month'],
    ['0 0 5L * *', "the day of month '5L'"],
    ['@every 5m', "'@every 5m' is unknown"],
    ['@reboot', '@daily'],
    [`${'1,'.repeat(200)}1 * * * *`, 'the limit is 256'],
  ])('[modules 7] %j: %s', (expression, text) => {
    expect(reasonOf(expression)).toContain(text);
  });
});
