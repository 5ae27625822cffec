// Fault 46: endless names in metrics, in traces and in counters by name. What is kept stays bounded: a flood of other
// names, as large as the one before, reuses the places of that one.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds } from '../../support/load/fault-tools.ts';
import { ask, OBSERVED } from '../../support/telemetry/observability-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
/** Names in each flood: a million in the long form of 100 rounds. */
const NAMES = IS_LONG ? 10_000 * rounds(1) : 12_000;
const NAMES_PER_FRAME = 500;
const MIB = 1024 * 1024;
const GROWTH_BYTES_MAX = 48 * MIB;
const FLOODS_MAX = 4;

test('[O1] fault 46: a flood of distinct names is bounded in memory, and what was left out is counted', {
  timeout: 120_000 + NAMES,
}, async () => {
  const line = faultLine('46', 'label flood', `growth<=${GROWTH_BYTES_MAX / MIB}MiB`);
  await using engine = await EngineProcess.start(OBSERVED);
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('known', () => null);
  let first = 0;
  const flood = async (): Promise<number> => {
    let highest = 0;
    for (const end = first + NAMES; first < end; first += NAMES_PER_FRAME) {
      const names = Array.from({ length: NAMES_PER_FRAME }, (_, index) => `name-${first + index}`);
      worker.sendBinary(Buffer.from(`MTRC${JSON.stringify(metricsOf(names))}`));
      for (const name of names) {
        worker.send({ type: 'invokefunction', function_id: `missing::${name}`, data: null, action: { type: 'void' } });
      }
      await worker.call('known', null, { baggage: `tenant=${names[0]}` });
      highest = Math.max(highest, engine.rssBytes);
    }
    return highest;
  };
  // Memory that names leave is reused each time; the space of young objects grows with the first two.
  for (let flooded = 0; flooded < 2; flooded++) await flood();
  // Names that are kept make every flood grow. One flood alone may also meet a late collection of garbage.
  let usual = await flood();
  const growths: number[] = [];
  do {
    const highest = await flood();
    growths.push(highest - usual);
    usual = highest;
  } while (growths.length < FLOODS_MAX && Math.min(...growths) >= GROWTH_BYTES_MAX);
  line.figure = `growth=${Math.round(Math.min(...growths) / MIB)}MiB names=${first}`;
  expect(Math.min(...growths)).toBeLessThan(GROWTH_BYTES_MAX);
  // The engine saw them, and reports what it did not keep.
  await waitFor('the flood is counted', async () => {
    const { components } = await ask(worker, 'engine::health::check');
    return /telemetry\.dropped\{(metrics|spans),/.test(JSON.stringify(components));
  });
});

function metricsOf(names: readonly string[]) {
  const timeUnixNano = `${Date.now()}000000`;
  const dataPoints = names.map((name) => ({
    ...{ asInt: '1', timeUnixNano },
    attributes: [{ key: 'user', value: { stringValue: name } }],
  }));
  const sum = { dataPoints, aggregationTemporality: 2, isMonotonic: true };
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: names[0] } }] };
  const metrics = [{ name: 'requests', unit: '1', sum }];
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope: { name: 'test' }, metrics }] }] };
}
