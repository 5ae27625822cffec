import { expect, test } from 'vitest';
import { createLogger } from '../../../src/effects/logger.ts';
import { createOwnThread } from '../../../src/effects/pool.ts';
import { WITHOUT_ENTRY } from '../../../src/modules/observability/config.ts';
import { resolveTelemetry } from '../../../src/modules/observability/settings.ts';
import { type RollupThread, TelemetryClient } from '../../../src/telemetry/client.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';

test('[O1] a rollup thread that has ended is an error for the caller, not for the engine', async () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const logger = createLogger({ level: 'debug', format: 'default', clock, write: (line) => lines.push(line) });
  const ended: RollupThread = { run: () => Promise.reject(new Error('it ended')), close: async () => {} };
  const client = new TelemetryClient({
    options: () => ({
      settings: resolveTelemetry(WITHOUT_ENTRY, {}),
      service: { serviceName: 'svc', engineVersion: '0.0.0', resource: {} },
      exporter: undefined,
      console: undefined,
    }),
    markKey: () => 'key of this test',
    isForMemoryOnly: true,
    createThread: () => createOwnThread('telemetry', true),
    createRollupThread: () => ended,
    wantedLogs: () => ({ levels: [], ratio: 1 }),
    fireLogs: () => {},
    dropped: () => {},
    noteGauges: () => {},
    ...{ clock, logger },
  });
  expect(await client.ask('engine::rollups::list', undefined)).toMatchObject({
    error: { code: 'STORAGE_UNAVAILABLE' },
  });
  expect(client.failures).toBe(1);
  expect(lines.join('\n')).toContain('Rolled up metrics could not be read');
  await client.stop();
});
