// `npm start`: runs the engine with svc-config.yaml, and the sample worker, until Ctrl-C.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (...args) => spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });

const engine = run('bin/svc.js', 'start', '--config', 'svc-config.yaml');
const ended = once(engine, 'exit');
let worker;
engine.once('message', () => {
  worker = run('docs/quickstart/worker.js');
  worker.once('message', () => process.stdout.write(INVITATION));
});

// Ctrl-C reaches all processes of the terminal; a SIGTERM reaches only this one and must be passed on.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {
  engine.kill('SIGTERM');
  worker?.kill('SIGTERM');
});

const INVITATION = `
The engine is running, and the worker 'greeter' offers three functions. Paste into a second terminal:

  npx svc trigger greet::hello name=Ada
  npx svc http GET /hello/Ada

Ctrl-C stops both.
`;

const [code] = await ended;
worker?.kill('SIGTERM');
process.exitCode = code ?? 1;
