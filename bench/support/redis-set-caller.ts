// The caller part for Redis: SET on its own server, which syncs every write before it answers.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { freePort } from '../../test/support/free-port.ts';
import { answerReady, answerRuns } from './part.ts';

const KEYS = 10_000;
const port = await freePort();
const folder = mkdtempSync(join(tmpdir(), 'svc-bench-redis-'));
const options = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--bind', '127.0.0.1'];
const server = spawn('redis-server', ['--port', String(port), '--dir', folder, ...options], { stdio: 'ignore' });
process.on('exit', () => {
  server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
process.on('SIGTERM', () => process.exit(0));
const client = createClient({ url: `redis://127.0.0.1:${port}` });
// The client reconnects while the server starts.
client.on('error', () => {});
const value = 'x'.repeat(200);
let call = 0;

answerReady(async () => {
  await client.connect();
  return {};
});
answerRuns((_payload, done) => {
  call = (call + 1) % KEYS;
  client.set(`bench:key-${call}`, value).then(done, (error: unknown) => {
    throw error;
  });
});
