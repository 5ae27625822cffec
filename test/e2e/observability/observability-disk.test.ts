// `trace_storage`: traces and logs that outlive their engine.

import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DiskHistory } from '../../../src/telemetry/disk-history.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { ask, type Fields, observedBy } from '../../support/telemetry/observability-engine.ts';
import { logRecord, spanRecord } from '../../support/telemetry/telemetry-records.ts';

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;

describe('an engine with trace_storage', () => {
  test('[modules 11.1] lists traces and logs of an earlier run until they are cleared', async () => {
    using folder = new TemporaryFolder();
    const yaml = observedBy(`{enabled: true, exporter: memory, trace_storage: {directory: ${folder.path}}}`);
    {
      await using engine = await startTestEngine({ yaml });
      await using worker = await RawWorker.connect(engine.url);
      await worker.serve('orders::create', () => ({ made: true }));
      await worker.call('orders::create', {});
      await ask(worker, 'engine::traces::list');
      await worker.call('engine::log::warn', { message: 'kept', service_name: 'shop' });
    }
    {
      await using engine = await startTestEngine({ yaml });
      await using worker = await RawWorker.connect(engine.url);
      const { spans } = await ask(worker, 'engine::traces::list');
      expect(spans).toMatchObject([{ name: 'call orders::create', status: 'ok' }]);
      const { logs } = await ask(worker, 'engine::logs::list', { severity_text: 'WARN' });
      expect((logs as Fields[]).map(({ body }) => body)).toEqual(['kept']);
      await ask(worker, 'engine::traces::clear');
      await ask(worker, 'engine::logs::clear');
    }
    await using engine = await startTestEngine({ yaml });
    await using worker = await RawWorker.connect(engine.url);
    expect((await ask(worker, 'engine::traces::list')).spans).toEqual([]);
    expect((await ask(worker, 'engine::logs::list', { severity_text: 'WARN' })).logs).toEqual([]);
  });

  test('[K2] that cannot be opened is degraded, and lists what is in memory', async () => {
    using folder = new TemporaryFolder();
    writeFileSync(join(folder.path, 'data.mdb'), 'this is no store');
    const yaml = observedBy(`{enabled: true, exporter: memory, trace_storage: {directory: ${folder.path}}}`);
    await using engine = await startTestEngine({ yaml });
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('orders::create', () => ({ made: true }));
    await worker.call('orders::create', {});
    expect((await ask(worker, 'engine::traces::list')).spans).toMatchObject([{ name: 'call orders::create' }]);
    const health = await ask(worker, 'engine::health::check');
    expect(health).toMatchObject({ status: 'degraded' });
  });
});

describe('the history on the disk', () => {
  test('[O1] drops the oldest spans to stay within its size', async () => {
    using folder = new TemporaryFolder();
    const disk = await open(folder);
    for (let count = 0; count < 400; count++) {
      // Random bytes cannot be compressed.
      const attributes = [['noise', randomBytes(MIB / 16).toString('latin1')]] as const;
      disk.add([spanRecord({ name: `call f${count}`, attributes })], []);
      disk.flush();
    }
    disk.close();
    expect(statSync(join(folder.path, 'data.mdb')).size).toBeLessThanOrEqual(8 * MIB);
    const again = await open(folder);
    const names = [...again.spans.newestFirst()].flat().map(({ name }) => name);
    again.close();
    expect(names[0]).toBe('call f399');
    expect(names.length).toBeGreaterThan(10);
    expect(names).toEqual(names.map((_, index) => `call f${399 - index}`));
  });

  test('drops records that are older than the retention time', async () => {
    using folder = new TemporaryFolder();
    let nowMs = Date.UTC(2026, 0, 1);
    const disk = await open(folder, () => nowMs);
    disk.add([], [logRecord({ body: 'old' })]);
    disk.flush();
    nowMs += 2 * DAY_MS;
    disk.add([], [logRecord({ body: 'new' })]);
    disk.flush();
    expect([...disk.logs.newestFirst()].flat().map(({ body }) => body)).toEqual(['new']);
    nowMs += 2 * DAY_MS;
    expect([...disk.logs.newestFirst()]).toEqual([]);
    disk.close();
  });

  test('[D9] skips and counts damaged records', async () => {
    using folder = new TemporaryFolder();
    const disk = await open(folder);
    const records = ['first', 'second', 'third'].map((name) => spanRecord({ name }));
    for (const record of records) {
      disk.add([record], []);
      disk.flush();
    }
    disk.close();
    damage(join(folder.path, 'data.mdb'), deflateRawSync(JSON.stringify([records[1]]), { level: 1 }));
    const drops: string[] = [];
    const again = await open(folder, Date.now, drops);
    expect([...again.spans.newestFirst()].flat().map(({ name }) => name)).toEqual(['third', 'first']);
    expect(drops).toEqual(['spans damaged_block 1']);
    again.close();
  });

  test('belongs to one engine at a time', async () => {
    using folder = new TemporaryFolder();
    const disk = await open(folder);
    await expect(open(folder)).rejects.toThrow('in use');
    disk.close();
  });
});

function open(folder: TemporaryFolder, nowMs: () => number = Date.now, drops: string[] = []): Promise<DiskHistory> {
  const settings = { folder: folder.path, maxDiskBytes: 8 * MIB, retentionMs: DAY_MS, anyFileSystem: true };
  return DiskHistory.open(settings, {
    nowMs,
    token: () => randomBytes(16).toString('hex'),
    dropped: (kind, reason, count) => drops.push(`${kind} ${reason} ${count}`),
  });
}

/** Flips one bit in every copy of these bytes. */
function damage(file: string, bytes: Buffer): void {
  const data = readFileSync(file);
  let found = 0;
  for (let at = data.indexOf(bytes); at >= 0; at = data.indexOf(bytes, at + 1)) {
    data.writeUInt8(data.readUInt8(at + 20) ^ 1, at + 20);
    found++;
  }
  if (found === 0) throw new Error('The record was not found in the file');
  writeFileSync(file, data);
}
