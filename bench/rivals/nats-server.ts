// The server part with NATS: Debian's nats-server on a free port of loopback.

import { spawn } from 'node:child_process';
import { freePort } from '../../test/support/free-port.ts';
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
// The server must end with this process, however that ends.
process.on('exit', () => server.kill('SIGKILL'));
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
answerReady(async () => ({ url: `127.0.0.1:${port}`, pid: server.pid }));
