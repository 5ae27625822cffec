// The thread that a start begins before it knows which stores the configuration has.

import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { waitFor } from '../../support/wait-for.ts';

const WORKERS = 'workers:\n  - {name: svc-worker-manager, config: {port: 0}}\n';
const STATE = '  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}\n';

/** Of the operating system. */
function threadsOf(engine: EngineProcess): number {
  return readdirSync(`/proc/${engine.pid}/task`).length;
}

test('[K1] the thread of a store that no module of the configuration needs is ended after the start', async () => {
  await using without = await EngineProcess.start(WORKERS);
  await using withStore = await EngineProcess.start(`${WORKERS}${STATE}`);
  await waitFor('it has one thread less', () => threadsOf(without) < threadsOf(withStore), 20_000);
  expect(threadsOf(without)).toBeGreaterThan(0);
});
