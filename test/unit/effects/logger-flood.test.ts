import { expect, test } from 'vitest';
import { createLogger } from '../../../src/effects/logger.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';

test('[guarantees 1.3] A repeated message is limited per second, and the log counts the lines left out', () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', format: 'default', clock, write: (line) => lines.push(line) });
  for (let count = 0; count < 1000; count++) logger.warn('Connection refused', { count });
  logger.warn('Something else');
  expect(lines).toHaveLength(21);
  clock.advance(1000);
  expect(lines.slice(21)).toEqual([expect.stringContaining('line="Connection refused" left_out=980')]);
  logger.warn('Connection refused', { count: 1000 });
  expect(lines.at(-1)).toContain('count=1000');
  clock.advance(5000);
  expect(lines).toHaveLength(23);
});

test('The count of lines left out reaches log records and log triggers too', () => {
  const clock = new FakeClock();
  const heard: unknown[] = [];
  const logger = createLogger({ level: 'error', format: 'json', clock, write: () => {} });
  logger.observe?.((level, message, fields) => heard.push([level, message, fields]));
  for (let count = 0; count < 25; count++) logger.error('Broken');
  clock.advance(1000);
  expect(heard).toHaveLength(21);
  expect(heard.at(-1)).toMatchObject(['error', expect.any(String), { line: 'Broken', left_out: 5 }]);
});

test('From the 257th different message within a second on, messages share one limit', () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', format: 'default', clock, write: (line) => lines.push(line) });
  for (let count = 0; count < 1000; count++) logger.warn(`Message ${count}`);
  expect(lines).toHaveLength(256 + 20);
  clock.advance(1000);
  expect(lines.at(-1)).toContain(`line="all others" left_out=${1000 - 256 - 20}`);
});
