import { expect, test } from 'vitest';
import { createLogger } from '../../../src/effects/logger.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('[guarantees 1.3] One message repeated without end fills no disk, and tells how often it was swallowed', () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', format: 'default', clock, write: (line) => lines.push(line) });
  for (let count = 0; count < 1000; count++) logger.warn('Connection refused', { count });
  logger.warn('Something else');
  expect(lines).toHaveLength(21);
  clock.advance(1000);
  logger.warn('Connection refused', { count: 1000 });
  expect(lines.at(-1)).toContain('suppressed=980');
  clock.advance(1000);
  logger.warn('Connection refused', { count: 1001 });
  expect(lines.at(-1)).not.toContain('suppressed');
});
