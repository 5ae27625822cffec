// The server part with NATS: Debian's nats-server on a free port of loopback. With the argument `jetstream` it keeps
// streams, in a folder that ends with it.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { answerReady } from '../support/part.ts';

const port = await freePort();
const folder = process.argv[2] === 'jetstream' ? mkdtempSync(join(tmpdir(), 'svc-bench-nats-')) : undefined;
const streams = folder === undefined ? [] : ['-js', '-sd', folder];
const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), ...streams], {
  stdio: ['ignore', 'ignore', 'pipe'],
});
await new Promise<void>((resolve, reject) => {
  let seen = '';
  server.once('error', () => reject(new Error('nats-server is not installed: apt-get install nats-server')));
  server.stderr.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    if (seen.includes('Server is ready')) resolve();
  });
});
// The server must end with this process, however that ends.
process.on('exit', () => {
  server.kill('SIGKILL');
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
answerReady(async () => ({ url: `127.0.0.1:${port}`, pid: server.pid }));
