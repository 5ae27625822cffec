// Fault 7 while the engine runs: a record of a job becomes damaged. Its job is lost and reported; no other is, and the
// next start is not refused because of the record that was set aside.

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATA_FILE } from '../../../src/store/directory/store-folder.ts';
import { keysBelow, SPACE } from '../../../src/store/kv/keys.ts';
import { openStore } from '../../../src/store/kv/open-store.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { directory } from '../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import {
  deadLettersOf,
  type EnqueueFields,
  enqueue,
  receiptOf,
  startQueueEngine,
  statsOf,
} from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const BAD = 'the one that goes bad';

test.each<[string, EnqueueFields]>([
  ['lie in blocks', {}],
  ['have a record each', { priority: 1 }],
])(
  '[D9] [R5] [fault 7] Where jobs %s, one that goes bad is set aside, and the next start takes the rest',
  async (kind, fields) => {
    const line = faultLine('7', `record set aside, jobs ${kind}`, 'started,done=4');
    using folder = new TemporaryFolder();
    const done: unknown[] = [];
    {
      await using engine = await startQueueEngine({ folder: folder.path });
      await using worker = await RawWorker.connect(engine.url);
      await worker.call('engine::queue::pause', { queue: 'default' });
      for (const data of ['first', BAD, 'last']) await receiptOf(enqueue(worker, 'job', data, fields));
    }
    {
      // Its start has brought the records into the data file.
      await using engine = await startQueueEngine({ folder: folder.path });
      await using worker = await RawWorker.connect(engine.url);
      damage(join(folder.path, DATA_FILE));
      await worker.serve('job', (data) => done.push(data));
      await worker.call('engine::queue::resume', { queue: 'default' });
      await waitFor('the others are done', () => done.length === 2);
      await waitFor('the damaged record is reported', () => engine.counters.get('store.damaged_records') > 0);
      await receiptOf(enqueue(worker, 'away', 'for later', fields));
    }
    {
      await using engine = await startQueueEngine({ folder: folder.path });
      await using worker = await RawWorker.connect(engine.url);
      for (const id of ['job', 'away']) await worker.serve(id, (data) => done.push(data));
      await receiptOf(enqueue(worker, 'job', 'new', fields));
      await waitFor('nothing is left', async () => (await statsOf(worker)).depth === 0);
      expect(engine.counters.get('store.damaged_records')).toBe(0);
    }
    const aside = recordsAside(folder.path);
    line.figure = `started,done=${done.length}`;
    expect(done.toSorted()).toEqual(['first', 'for later', 'last', 'new']);
    expect(aside.some((record) => record.includes(damaged(BAD)))).toBe(true);
  },
);

test('[D9] [R5] [Q10] [fault 7] A dead letter that becomes damaged is set aside when it is read, and the next start takes the rest', async () => {
  const line = faultLine('7', 'dead letter set aside', 'started,left=2');
  using folder = new TemporaryFolder();
  const yaml = { folder: folder.path, queues: '{once: {max_retries: 0}}' };
  {
    await using engine = await startQueueEngine(yaml);
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('job', () => {
      throw new Error('no');
    });
    for (const data of ['first', BAD, 'last']) await receiptOf(enqueue(worker, 'job', data, { queue: 'once' }));
    await waitFor('all are dead', async () => (await statsOf(worker, 'once')).dlq_depth === 3);
  }
  {
    await using engine = await startQueueEngine(yaml);
    await using worker = await RawWorker.connect(engine.url);
    damage(join(folder.path, DATA_FILE));
    expect(await deadPayloads(worker)).toEqual(['last', 'first']);
    await waitFor('the damaged record is reported', () => engine.counters.get('store.damaged_records') > 0);
  }
  await using engine = await startQueueEngine(yaml);
  await using worker = await RawWorker.connect(engine.url);
  const left = await deadPayloads(worker);
  line.figure = `started,left=${left.length}`;
  expect(left).toEqual(['last', 'first']);
});

async function deadPayloads(worker: RawWorker): Promise<unknown[]> {
  return (await deadLettersOf(worker, 'once')).map(({ payload }) => payload);
}

/** Flips one bit of it, wherever a page has it: overwritten pages keep their bytes. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  const handle = openSync(file, 'r+');
  for (let at = bytes.indexOf(BAD); at >= 0; at = bytes.indexOf(BAD, at + 1))
    writeSync(handle, damaged(BAD[0] ?? ''), at);
  closeSync(handle);
}

function damaged(text: string): string {
  return `${String.fromCharCode(text.charCodeAt(0) ^ 1)}${text.slice(1)}`;
}

function recordsAside(folder: string): Buffer[] {
  const opened = openStore({ location: directory(folder, 0), newEpoch: 'epoch' });
  if (!opened.ok) throw new Error(opened.message);
  const { start, end } = keysBelow(SPACE.setAside);
  const records = opened.store.read((kv) => [...kv.range(start, end)].map(({ value }) => Buffer.from(value)));
  opened.close();
  return records;
}
