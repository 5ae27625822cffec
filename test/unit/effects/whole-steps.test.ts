import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LmdbStore } from '../../../src/store/kv/kv-lmdb.ts';

const PROGRAM = new URL('../../support/threads/end-in-transaction.ts', import.meta.url).pathname;

test('[G1] a process that ends in the middle of a transaction commits it, begins no other one, and exits', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-end-'));
  const child = spawn(process.execPath, [PROGRAM, folder], { stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  expect(code).toBe(3);
  const store = new LmdbStore({ folder });
  expect(String(store.read((kv) => kv.get(Buffer.from('key'))))).toBe('first');
  store.close();
  rmSync(folder, { recursive: true });
}, 20_000);
