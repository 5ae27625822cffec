// Fault 22: jobs of all kinds at a steady rate, some of which fail, while workers come and go. None is lost, and
// neither memory nor file grow with past jobs. A few seconds in CI; `SVC_FAULT_ROUNDS=28800 npm run faults` for 8
// hours.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATA_FILE } from '../../../src/store/directory/store-folder.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import type { SeededRandom } from '../../support/random/seeded-random.ts';
import { deadLettersOf, enqueue, queueYaml, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const SECONDS = rounds(4);
const JOBS_PER_TICK = 25;
const TICK_MS = 50;
/** A worker disconnects after this many jobs, with others in progress. */
const WORKER_JOBS_MAX = 1_500;
const MIB = 1024 * 1024;
/** Memory counts from the end of the first hour. */
const STEADY_S = 3_600;
const SLOPE_MIB_PER_HOUR_MAX = 1;
const GROUPED = '{type: fifo, message_group_field: group, max_retries: 50, backoff_ms: 5}';
const QUEUES = `{default: {max_retries: 50, backoff_ms: 20}, grouped: ${GROUPED}}`;

interface Sample {
  readonly atS: number;
  readonly rss: number;
  readonly file: number;
}

/** The jobs that were taken and done, recorded outside the engine. */
class Soak {
  readonly waiting = new Set<string>();
  readonly done = new Set<string>();
  taken = 0;
  readonly #random: SeededRandom;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** One job in ten belongs to a group, one in ten waits, one in ten has a priority. */
  async send(producer: RawWorker): Promise<void> {
    const kind = this.#random.below(10);
    const queue = kind === 0 ? { queue: 'grouped' } : {};
    const manner = kind === 1 ? { delay_ms: this.#random.below(500) } : kind === 2 ? { priority: 9 } : {};
    const { result } = await enqueue(producer, 'job', { group: this.#random.below(100) }, { ...queue, ...manner });
    const { messageReceiptId: receipt } = result as { messageReceiptId: string };
    this.taken++;
    // It may have been done before its receipt was read.
    if (!this.done.delete(receipt)) this.waiting.add(receipt);
  }

  /** Until `jobs` are done: then it disconnects, and others take its place. */
  async work(url: string, jobs: number): Promise<void> {
    await using worker = await RawWorker.connect(url);
    let left = jobs;
    await worker.serve('job', (_data, { metadata }) => {
      if (this.#random.chance(1)) throw new Error('failed on purpose');
      const { messageReceiptId: receipt } = metadata as { messageReceiptId: string };
      if (!this.waiting.delete(receipt)) this.done.add(receipt);
      left--;
      return null;
    });
    await waitFor('it has done its part, or all is done', () => left <= 0 || this.isOver, SECONDS * 1_000 + 60_000);
  }

  isOver = false;
}

/** The file grows by pages, in steps that depend on the moment. */
const FEW_PAGES_BYTES = 4 * 4_096;
/** Of a job that waits: 2 000 jobs that stay take 668 KiB. */
const JOB_BYTES = 350;

test('[Q1] [R3] [fault 22] Jobs of all kinds that come for a long time all run, and leave nothing in the store', {
  timeout: 60_000 + SECONDS * 2_000,
}, async () => {
  const line = faultLine('22', 'soak', `lost=0,MiB per hour<${SLOPE_MIB_PER_HOUR_MAX} after the first`);
  using folder = new TemporaryFolder();
  const random = faultRandom('22');
  await using engine = await EngineProcess.start(queueYaml({ folder: folder.path, queues: QUEUES }));
  await using producer = await RawWorker.connect(engine.url);
  const soak = new Soak(random);
  const workers = [0, 1].map(async () => {
    while (!soak.isOver) await soak.work(engine.url, random.between(WORKER_JOBS_MAX / 10, WORKER_JOBS_MAX));
  });
  const samples: Sample[] = [];
  const sent: Promise<void>[] = [];
  // A busy machine may be late: what waited at the same time needed its room.
  let waitingMost = 0;
  for (let tick = 0; tick * TICK_MS < SECONDS * 1_000; tick++) {
    sent.push(...Array.from({ length: JOBS_PER_TICK }, () => soak.send(producer)));
    if ((tick * TICK_MS) % 1_000 === 0) {
      await Promise.all(sent.splice(0));
      samples.push({ atS: (tick * TICK_MS) / 1_000, rss: engine.rssBytes, file: sizeOf(folder.path) });
    }
    waitingMost = Math.max(waitingMost, soak.waiting.size);
    // The rate is the test.
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(sent);
  await waitFor('all have run', () => soak.waiting.size === 0, 30_000).catch(() => {});
  for (const queue of ['default', 'grouped']) {
    await waitFor(`${queue} is empty`, async () => (await statsOf(producer, queue)).depth === 0, 15_000);
    expect(await deadLettersOf(producer, queue)).toEqual([]);
  }
  soak.isOver = true;
  await Promise.all(workers);
  const slope = slopeOf(samples);
  line.figure = `lost=${soak.waiting.size} of ${soak.taken},${slope === undefined ? 'too short for memory' : `MiB per hour=${slope}`}`;
  expect(soak.waiting).toEqual(new Set());
  // Finished jobs make room for new ones.
  const [early, last] = [samples[Math.floor(samples.length / 4)], samples.at(-1)];
  const room = FEW_PAGES_BYTES + JOB_BYTES * waitingMost;
  expect(last?.file).toBeLessThanOrEqual(2 * (early?.file ?? 0) + room);
  if (slope !== undefined) expect(slope).toBeLessThan(SLOPE_MIB_PER_HOUR_MAX);
});

function sizeOf(folder: string): number {
  return statSync(join(folder, DATA_FILE)).size;
}

/** By least squares over the samples after the first hour. */
function slopeOf(samples: readonly Sample[]): number | undefined {
  const steady = samples.filter(({ atS }) => atS >= STEADY_S);
  if (steady.length < STEADY_S) return undefined;
  const meanS = steady.reduce((sum, { atS }) => sum + atS, 0) / steady.length;
  const over = steady.reduce((sum, { atS, rss }) => sum + (atS - meanS) * rss, 0);
  const under = steady.reduce((sum, { atS }) => sum + (atS - meanS) ** 2, 0);
  return Math.round((over / under / MIB) * 3_600 * 100) / 100;
}
