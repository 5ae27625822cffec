// The server part with NATS: Debian's nats-server on a free port of loopback.

import { spawn } from 'node:child_process';
import { freePort } from '../support/free-port.ts';
import { answerReady } from '../support/part.ts';

const port = await freePort();
const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], { stdio: ['ignore', 'ignore', 'pipe'] });
await new Promise<void>((resolve, reject) => {
  let seen = '';
  server.once('error', () => reject(new Error('nats-server is not installed: apt-get install nats-server')));
  server.stderr.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    if (seen.includes('Server is ready')) resolve();
  });
});
// The parent kills this process without warning; the server must go with it.
process.on('disconnect', () => {
  server.kill('SIGKILL');
  process.exit();
});
answerReady(async () => ({ url: `127.0.0.1:${port}`, pid: server.pid }));
