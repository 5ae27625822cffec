// Fault 1, the part of streams: kill -9 under writers; items, numbers, history and epoch are there afterwards.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds } from '../../support/load/fault-tools.ts';
import { streamYaml } from '../../support/stores/stream-engine.ts';

const ROUNDS = rounds(2);
const WRITERS = 16;
const ROOM = { stream_name: 'chat', group_id: 'room' };

test('[T1] [T4] [R1] [fault 1] what was acknowledged is there after kill -9, and a subscriber recovers across it', {
  timeout: 30_000 + ROUNDS * 20_000,
}, async () => {
  const line = faultLine('1', 'kill with streams', 'each event once');
  using folder = new TemporaryFolder();
  const yaml = streamYaml('', '', `adapter: {name: kv, config: {file_path: ${folder.path}}}`);
  const acknowledged = new Map<string, number>();
  const seqs: number[] = [];
  let epoch = '';
  for (let round = 0; round < ROUNDS; round++) {
    await using engine = await EngineProcess.start(yaml);
    const [workers = '', streams = ''] = engine.urls;
    await using worker = await RawWorker.connect(workers);
    const since = epoch === '' ? '' : `?epoch=${epoch}&seq=${seqs.at(-1) ?? 0}`;
    await using client = await StreamClient.connect(streams, `/stream/chat/room${since}`);
    const sync = await client.nextOf('sync');
    expect(sync.event.recovered).toBe(epoch !== '');
    if (epoch !== '') expect(sync.epoch).toBe(epoch);
    epoch = sync.epoch ?? '';
    const { result } = await worker.call('stream::list', { ...ROOM, include_ids: true });
    const stored = new Map(
      (result as { group: { id: string; data: number }[] }).group.map(({ id, data }) => [id, data]),
    );
    for (const [item, n] of acknowledged) expect(stored.get(item)).toBeGreaterThanOrEqual(n);
    const writers = Array.from({ length: WRITERS }, async (_, index) => {
      const item_id = `w${index}`;
      for (let n = (acknowledged.get(item_id) ?? 0) + 1; ; n++) {
        const answered = worker.call('stream::set', { ...ROOM, item_id, data: n }).catch(() => undefined);
        const answer = await Promise.race([answered, worker.closed.then(() => undefined)]);
        if (answer?.error !== undefined || answer === undefined) return;
        acknowledged.set(item_id, n);
      }
    });
    const count = seqs.length + 300;
    while (seqs.length < count) seqs.push((await client.next()).seq ?? 0);
    engine.kill('SIGKILL');
    await Promise.all(writers);
    for (const { seq = 0, event } of client.messages.slice(1)) {
      if (event.type !== 'sync' && seq > (seqs.at(-1) ?? 0)) seqs.push(seq);
    }
  }
  line.figure = `events=${seqs.length},distinct=${new Set(seqs).size}`;
  expect(seqs).toEqual(Array.from(seqs, (_, index) => index + 1));
});
