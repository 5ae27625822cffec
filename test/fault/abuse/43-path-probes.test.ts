// Fault 43: names that would be paths if they were used as file names (X20). They are returned unchanged, and no file on
// the disk differs.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { enqueue } from '../../support/stores/queue-engine.ts';

const HOSTILE = [
  ...[
    '..',
    '.',
    '../../escape',
    '/etc/passwd-svc',
    'a/../../b',
    '..\\..\\c',
    'C:\\svc',
    '~',
    '~/x',
    '%2e%2e%2f',
    '-rf',
  ],
  ...[
    'con',
    'nul',
    'data.mdb',
    'lock.mdb',
    'file:///tmp/x',
    '$(touch x)',
    '`touch x`',
    'x;touch y',
    '＿．．／',
    'é\u0301',
  ],
  'n'.repeat(250),
];

test('[X20] [fault 43] hostile names of scopes, keys, streams, topics and queues are names, and never files', async () => {
  const line = faultLine('43', 'path probes', 'files outside=0');
  using folder = new TemporaryFolder();
  const data = join(folder.path, 'data');
  await using engine = await EngineProcess.start(yamlOf(data));
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('on::topic', () => null);
  const before = filesBelow(folder.path);
  for (const name of HOSTILE) {
    const value = { is: name };
    await worker.call('state::set', { scope: name, key: name, value });
    expect(await worker.call('state::get', { scope: name, key: name })).toMatchObject({ result: value });
    const place = { stream_name: name, group_id: name, item_id: name };
    await worker.call('stream::set', { ...place, data: value });
    expect(await worker.call('stream::get', place)).toMatchObject({ result: { value } });
    expect((await enqueue(worker, 'on::topic', {}, { queue: name })).error).toMatchObject({
      reason: 'QUEUE_NOT_FOUND',
    });
  }
  const { result } = await worker.call('state::list_groups');
  expect(JSON.stringify(result)).toContain(JSON.stringify('../../escape'));
  const outside = filesBelow(folder.path).filter((file) => !before.includes(file));
  line.figure = `files outside=${outside.length} names=${HOSTILE.length}`;
  expect(outside).toEqual([]);
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

function yamlOf(data: string): string {
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-state, config: {adapter: {name: kv, config: {file_path: ${data}}}}}
  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, adapter: {name: kv, config: {file_path: ${data}}}}}
  - {name: svc-queue, config: {adapter: {name: builtin, config: {file_path: ${data}}}}}
`;
}
