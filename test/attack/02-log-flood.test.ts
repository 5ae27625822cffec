// A flood of log records fills neither the memory nor the file that the console is written to.

import { expect, test } from 'vitest';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { EngineProcess } from '../support/engine/engine-process.ts';
import { ask, OBSERVED } from '../support/telemetry/observability-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectPage } from './restricted-page.ts';

const FLOOD = 16_800;
const MESSAGE_CHARS = 16_000;
const PER_SECOND = 200;
/** The heap of each thread. The flood without limits needs more. */
const HEAP_MIB = 160;
const RESTRICTED = `${OBSERVED}  - name: svc-worker-manager
    config: {port: 0, rbac: {}}
`;

test('16 800 distinct messages of 16 KB leave the heap within its limit, and print 200 lines a second', async () => {
  await using engine = await EngineProcess.start(OBSERVED, { heapMib: HEAP_MIB });
  await using worker = await RawWorker.connect(engine.url);
  const filling = 'x'.repeat(MESSAGE_CHARS);
  const startMs = performance.now();
  for (let count = 0; count < FLOOD; count++) {
    logVoid(worker, { message: `flood ${count} ${filling}`, service_name: 'flood' });
    // The answer comes after the telemetry thread has handled everything sent before.
    if (count % 600 === 599) await ask(worker, 'engine::logs::list', { limit: 1 });
  }
  const { logs } = await ask(worker, 'engine::logs::list', { limit: 1 });
  expect(logs).toMatchObject([{ body: expect.stringContaining(`flood ${FLOOD - 1} `) }]);
  const seconds = Math.ceil((performance.now() - startMs) / 1_000) + 1;
  const shown = await accountedFor(engine, 'flood ', FLOOD, 'flood');
  expect(shown.length).toBeLessThanOrEqual(seconds * PER_SECOND);
  expect(Math.max(...shown.map((line) => line.length))).toBeLessThan(6_000);
  expect(engine.stderr).not.toContain('failed');
});

test('A page that changes its service name with each record prints a limited number of lines', async () => {
  await using engine = await EngineProcess.start(RESTRICTED);
  await using worker = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const count = 300;
  for (let place = 0; place < count; place++) {
    logVoid(page, { message: `made up ${place}`, service_name: `service ${place}` });
  }
  await page.settled();
  await accountedFor(engine, 'made up ', count, 'all others');
  expect(leftOut(engine, 'all others')).toBeGreaterThan(0);
  expect((await ask(worker, 'engine::logs::search', { query: 'made' })).total).toBe(count);
});

test('[O5] The store and log triggers get every record of a flood', async () => {
  await using engine = await EngineProcess.start(OBSERVED);
  await using worker = await RawWorker.connect(engine.url);
  const count = 250;
  let fired = 0;
  await worker.serve('ops::errors', () => {
    fired++;
    return null;
  });
  worker.send({
    type: 'registertrigger',
    id: 'errors',
    trigger_type: 'log',
    function_id: 'ops::errors',
    config: { level: 'error' },
  });
  await worker.settled();
  for (let place = 0; place < count; place++) {
    logVoid(worker, { message: `flood ${place}`, service_name: 'shop' }, 'error');
  }
  await waitFor('the log trigger has fired for each', () => fired === count);
  expect((await ask(worker, 'engine::logs::search', { services: ['shop'] })).total).toBe(count);
  await accountedFor(engine, 'flood ', count, 'shop');
  expect(leftOut(engine, 'shop')).toBeGreaterThan(0);
});

function logVoid(worker: RawWorker, data: Record<string, unknown>, level = 'info'): void {
  worker.send({ type: 'invokefunction', function_id: `engine::log::${level}`, data, action: { type: 'void' } });
}

/** The lines with records, once these and the left-out records of that service add up to `count`. */
async function accountedFor(engine: EngineProcess, text: string, count: number, service: string): Promise<string[]> {
  let seen = -1;
  return await waitFor(
    'each record is printed or counted as left out',
    () => {
      if (engine.stderr.length === seen) return false;
      seen = engine.stderr.length;
      const shown = linesWith(engine, text).filter((line) => !line.includes('left_out='));
      return shown.length + leftOut(engine, service) === count && shown;
    },
    15_000,
  );
}

function linesWith({ stderr }: EngineProcess, text: string): string[] {
  return stderr.split('\n').filter((line) => line.includes(text));
}

/** The number of left-out records of that service, as printed. */
function leftOut(engine: EngineProcess, service: string): number {
  const numbers = linesWith(engine, 'left_out=')
    .filter((line) => line.includes(`service=${service} `) || line.includes(`service="${service}" `))
    .map((line) => Number(/left_out=(\d+)/.exec(line)?.[1]));
  return numbers.reduce((sum, number) => sum + number, 0);
}
