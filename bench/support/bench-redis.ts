// A redis-server for one measured cell, with the given sync setting.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';

export interface BenchRedis {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startRedis(appendfsync: 'always' | 'everysec'): Promise<BenchRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-redis-'));
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const child = spawn('redis-server', [...args, '--appendonly', 'yes', '--appendfsync', appendfsync]);
  await standing(child);
  return {
    port,
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function standing(child: ChildProcess): Promise<void> {
  for await (const text of child.stdout ?? []) if (String(text).includes('Ready to accept')) break;
  child.stdout?.resume();
}
