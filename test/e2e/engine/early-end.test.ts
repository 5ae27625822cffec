// A start loads the library of the store on a thread of its own. The library aborts the process when its thread is
// ended while it loads, so an engine that ends early waits for it.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ANY_PORT, finished, makeFolder, spawnSvc } from '../cli/cli-process.ts';

/** Makes each native library of a thread load for half a second, as on a busy machine, and prints both ends of it. */
const SLOW_LIBRARIES = `
import { writeSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
const load = process.dlopen;
if (!isMainThread) process.dlopen = (...place) => {
  writeSync(2, '<loading>');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  load.apply(process, place);
  writeSync(2, '<loaded>');
};`;

describe('an engine that ends while its libraries still load', { timeout: 60_000 }, () => {
  test('ends with 0 when it is stopped', async () => {
    const end = await endOf(ANY_PORT, (child) => child.stdout?.once('data', () => child.kill('SIGTERM')));
    expect(end).toEqual({ code: 0, loading: 2, loaded: 2 });
  });

  test('ends with 7 when its port is taken', async () => {
    await using server = await listen();
    const end = await endOf(ANY_PORT.replace('port: 0', `port: ${server.port}`), () => {});
    expect(end).toEqual({ code: 7, loading: 2, loaded: 2 });
  });
});

async function listen() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return { port: address.port, [Symbol.asyncDispose]: async () => void server.close() };
}

async function endOf(config: string, onStart: (child: ReturnType<typeof spawnSvc>) => void) {
  const { path, remove } = await makeFolder({ 'svc-config.yaml': config, 'slow.mjs': SLOW_LIBRARIES });
  const preload = `--import=${pathToFileURL(join(path, 'slow.mjs')).href}`;
  const child = spawnSvc(['start', '--json', '--threads', '1'], { cwd: path, env: { NODE_OPTIONS: preload } });
  onStart(child);
  const { code, signal, stderr } = await finished(child);
  await remove();
  return {
    code: code ?? signal,
    loading: stderr.split('<loading>').length - 1,
    loaded: stderr.split('<loaded>').length - 1,
  };
}
