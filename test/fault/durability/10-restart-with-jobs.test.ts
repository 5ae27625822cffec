// Fault 10, the part of queues: a start with a full queue. Jobs stay in the store, however many wait (R3).

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { encodeEnqueue } from '../../../src/store/commands/queue/codecs.ts';
import { openStore } from '../../../src/store/kv/open-store.ts';
import { COMMANDS } from '../../../src/store/thread/commands.ts';
import { STORE_LIMITS } from '../../../src/store/thread/contract.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { directory } from '../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { queueYaml, statsOf } from '../../support/stores/queue-engine.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const [JOBS, GROUPS] = IS_LONG ? [1_000_000, 10_000] : [50_000, 1_000];
const BATCH = 1_000;
const MIB = 1024 * 1024;
const QUEUES = '{orders: {type: fifo, message_group_field: group}}';
const RULES = { maxJobs: 1_000_000, maxDeadLetters: 1, unroutableTtlMs: 86_400_000, groupField: 'group' };

test(`[R3] [fault 10] An engine with ${JOBS} jobs in ${GROUPS} groups is ready soon, and takes little more memory than an empty one`, {
  timeout: 600_000,
}, async () => {
  const line = faultLine('10', 'restart with jobs', 'MiB over empty<64,ready s<=3');
  using folder = new TemporaryFolder();
  const full = join(folder.path, 'full');
  fill(full);
  const empty = await start(join(folder.path, 'empty'));
  const { jobs, rss, readyS } = await start(full);
  const over = rss - empty.rss;
  line.figure = `MiB over empty=${Math.round(over / MIB)},ready s=${readyS.toFixed(1)},empty one s=${empty.readyS.toFixed(1)}`;
  expect(jobs).toBe(JOBS);
  expect(over).toBeLessThan(64 * MIB);
});

async function start(folder: string) {
  const beganMs = performance.now();
  await using engine = await EngineProcess.start(queueYaml({ folder, queues: QUEUES }));
  const readyS = (performance.now() - beganMs) / 1_000;
  await using worker = await RawWorker.connect(engine.url);
  return { jobs: (await statsOf(worker, 'orders')).depth, rss: engine.rssBytes, readyS };
}

function fill(folder: string): void {
  const opened = openStore({ location: directory(folder, 0), newEpoch: 'e' });
  const enqueue = COMMANDS.find(({ name }) => name === 'queue::enqueue');
  if (!opened.ok || enqueue === undefined) throw new Error('There is no store to fill');
  const clocks = { nowMs: Date.now(), monotonicMs: 1, run: 'earlier' };
  const world = { ...clocks, epoch: 'e', isDropIn: false, wantsEvents: false, limits: STORE_LIMITS };
  for (let from = 0; from < JOBS; from += BATCH) {
    const payloads = Array.from({ length: BATCH }, (_, n) => Buffer.from(`{"group":${(from + n) % GROUPS},"n":${n}}`));
    let at = 0;
    const jobs = payloads.map(({ length }) => {
      at += length;
      return { facts: { functionId: 'order' }, at: at - length, bytes: length };
    });
    const input = { groups: [{ queue: 'orders', rules: RULES, jobs }], isAllOrNone: false };
    opened.store.write((kv) => enqueue.run(kv, encodeEnqueue(input, ...payloads), world));
  }
  opened.close();
}
