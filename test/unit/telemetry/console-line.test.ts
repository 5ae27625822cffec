import { expect, test } from 'vitest';
import type { LogRecord } from '../../../src/core/telemetry/records/records.ts';
import { recordConsole } from '../../../src/telemetry/console-line.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';

const RECORD: LogRecord = {
  timestamp_unix_nano: 1,
  observed_timestamp_unix_nano: 1,
  severity_number: 9,
  severity_text: 'INFO',
  body: 'hello',
  attributes: {},
  trace_id: null,
  span_id: null,
  resource: {},
  service_name: 'shop',
};

test('Each service has the configured number of lines per second, and the rest is counted', () => {
  const { clock, lines, show } = consoleOf(3);
  for (let count = 0; count < 10; count++) show({ ...RECORD, body: `message ${count}` });
  show({ ...RECORD, service_name: 'mail' });
  expect(lines).toHaveLength(4);
  clock.advance(1_000);
  expect(lines.slice(4)).toEqual([expect.stringMatching(/ WARN .* service=shop left_out=7 limit="3 lines a second/)]);
});

test('Lines that a full console does not take are counted', () => {
  let isFull = true;
  const { clock, lines, show } = consoleOf(3, () => !isFull);
  for (let count = 0; count < 5; count++) show(RECORD);
  clock.advance(5_000);
  expect(lines).toEqual([]);
  isFull = false;
  clock.advance(1_000);
  expect(lines).toEqual([expect.stringContaining('left_out=5')]);
  clock.advance(5_000);
  expect(lines).toHaveLength(1);
});

test('The count of lines left out is printed at the end', () => {
  const { lines, show, end } = consoleOf(3);
  for (let count = 0; count < 5; count++) show(RECORD);
  end();
  expect(lines.at(-1)).toContain('left_out=2');
});

test('Records below the level of the console are neither shown nor counted', () => {
  const { clock, lines, show } = consoleOf(3);
  for (let count = 0; count < 10; count++) show({ ...RECORD, severity_text: 'DEBUG' });
  clock.advance(1_000);
  expect(lines).toEqual([]);
});

test.each(['default', 'json'] as const)(
  'A line of the format %s has a bounded length, whatever its record holds',
  (format) => {
    const { lines, show } = consoleOf(200, () => true, format);
    show({ ...RECORD, body: '\u001b'.repeat(100_000) });
    show({
      ...RECORD,
      attributes: { small: 1, nested: { list: Array.from({ length: 10_000 }, (_, at) => at) }, last: 2 },
    });
    show({ ...RECORD, attributes: { ['k'.repeat(100_000)]: 1 } });
    for (const line of lines) expect(line.length).toBeLessThan(32 * 1024);
    expect(lines[1]).toMatch(/small.*last.*fields_cut/);
  },
);

test('The name of an attribute cannot forge a line or a field', () => {
  const { lines, show } = consoleOf(200, () => true, 'json');
  const text = consoleOf(200);
  const attributes = { service: 'other', level: 'error', message: 'forged', time: 'never', 'a\n2026 ERROR b': 1 };
  for (const console of [show, text.show]) console({ ...RECORD, attributes });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ service: 'shop', level: 'info', message: 'hello' });
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ 'data.service': 'other', 'data.message': 'forged' });
  expect(text.lines[0]).not.toContain('\n');
});

function consoleOf(linesPerSecond: number, takes = (): boolean => true, format: 'default' | 'json' = 'default') {
  const clock = new FakeClock();
  const lines: string[] = [];
  const write = (line: string): boolean => takes() && lines.push(line) > 0;
  return { clock, lines, ...recordConsole({ style: { level: 'info', format }, linesPerSecond, clock, write }) };
}
