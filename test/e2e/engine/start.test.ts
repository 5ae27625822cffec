// The start of an engine: it opens all ports or none, and none when the configuration is invalid.

import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A port that another server uses. */
class TakenPort implements AsyncDisposable {
  readonly #server: Server;
  readonly port: number;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async take(): Promise<TakenPort> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('No TCP port was given');
    return new TakenPort(server, address.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** Whether a server listens there. */
async function isTaken(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const answered = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return answered;
}

function ports(...numbers: number[]): string {
  const entries = numbers.map((port) => `  - name: svc-worker-manager\n    config: {port: ${port}}\n`);
  return `workers:\n${entries.join('')}`;
}

describe('a port that is in use', () => {
  test('[K1] is a start error with code 7 that names the address', async () => {
    await using taken = await TakenPort.take();
    await expect(startTestEngine({ yaml: ports(taken.port) })).rejects.toMatchObject({
      name: 'StartFailure',
      exitCode: 7,
      message: expect.stringContaining(`Cannot listen on 127.0.0.1:${taken.port}: the port is in use`),
    });
  });

  test('[K1] closes the other ports of the same file, whether listed before or after it', async () => {
    await using taken = await TakenPort.take();
    const [first, last] = [await freePort(), await freePort()];
    await expect(startTestEngine({ yaml: ports(first, taken.port, last) })).rejects.toMatchObject({ exitCode: 7 });
    expect(await Promise.all([first, last].map(isTaken))).toEqual([false, false]);
    await using engine = await startTestEngine({ yaml: ports(first, last) });
    expect(engine.urls).toEqual([`ws://127.0.0.1:${first}`, `ws://127.0.0.1:${last}`]);
    expect(await Promise.all([first, last].map(isTaken))).toEqual([true, true]);
  });

  test('[K1] by another engine does not disturb that engine', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await expect(startTestEngine({ yaml: ports(engine.port) })).rejects.toMatchObject({ exitCode: 7 });
    await worker.settled();
    await using another = await RawWorker.connect(engine.url);
    await another.settled();
  });

  test('[K1] ends the process with code 7, and no port stays open', async () => {
    await using taken = await TakenPort.take();
    const first = await freePort();
    await using engine = await EngineProcess.spawn(ports(first, taken.port));
    expect(await engine.end(15_000)).toEqual({ code: 7, signal: null });
    expect(engine.stderr).toContain(`127.0.0.1:${taken.port}`);
    expect(engine.stderr).not.toContain('is running');
    expect(await isTaken(first)).toBe(false);
  });
});

describe('two worker ports of one file', () => {
  test('[wire 1.1] share one engine: a worker on the first serves callers on the second', async () => {
    await using engine = await startTestEngine({ yaml: ports(0, 0) });
    const [first = '', second = ''] = engine.urls;
    await using worker = await RawWorker.connect(first);
    await using caller = await RawWorker.connect(second);
    await worker.serve('math::add', () => 5);
    expect(await caller.call('math::add')).toMatchObject({ result: 5 });
  });
});

describe('an invalid configuration', () => {
  test.each([
    ['an unknown top-level key', `thread: 2\n${ONE_PORT}`, /svc-config\.yaml:1:1: thread: .*Did you mean 'threads'/s],
    ['an unknown key of a module', 'workers:\n  - name: svc-worker-manager\n    config: {prot: 0}\n', /:3:14: .*prot/],
    ['an unknown module', 'workers:\n  - name: svc-wroker-manager\n', /svc-config\.yaml:2:11: .*svc-wroker-manager/s],
    [
      'a module of a later version',
      'workers:\n  - name: svc-telemetry\n',
      /does not contain the module svc-telemetry yet/,
    ],
    ['a module with another form here', 'workers:\n  - name: svc-exec\n', /a worker with 'path' and 'scripts.start'/],
    ['an unknown limit', `limits: {trusted: {frame_byte: 5}}\n${ONE_PORT}`, /limits\.trusted\.frame_byte/],
    ['a limit out of range', `limits: {trusted: {connections: 0}}\n${ONE_PORT}`, /limits\.trusted\.connections.*1/s],
    ['limits that contradict', `limits: {trusted: {outbound_close_bytes: 2048}}\n${ONE_PORT}`, /outbound_buffer_bytes/],
    ['a port out of range', 'workers: [{name: svc-worker-manager, config: {port: 65536}}]', /port.*65535/s],
    ['a text in place of a number', 'workers: [{name: svc-worker-manager, config: {port: "x"}}]', /port.*'x'/s],
    [
      'a restricted port without rules, which must not become a trusted port',
      'workers: [{name: svc-worker-manager, config: {port: 0, rbac: }}]',
      /rbac: Must be a map, found nothing/,
    ],
    ['a key given twice', 'threads: 1\nthreads: 2\n', /svc-config\.yaml:2:1: threads/],
    ['an alias', 'threads: &a 1\ndrain_timeout_ms: *a\n', /[Aa]nchor/],
  ])('[K4] with %s is refused with the position and the reason', async (_case, yaml, message) => {
    await expect(startTestEngine({ yaml })).rejects.toThrow(message);
  });

  test('[K4] ends the process with code 78, names the line, and opens no port', async () => {
    const port = await freePort();
    await using engine = await EngineProcess.spawn(`${ports(port)}drain_timeout: 5\n`);
    expect(await engine.end(15_000)).toEqual({ code: 78, signal: null });
    expect(engine.stderr).toMatch(/svc-config\.yaml:4:1: drain_timeout: .*drain_timeout_ms/s);
    expect(await isTaken(port)).toBe(false);
  });

  test('[X2] with a port on every address and no token ends the process with code 78', async () => {
    await using engine = await EngineProcess.spawn(
      'workers: [{name: svc-worker-manager, config: {host: 0.0.0.0, port: 0}}]',
    );
    expect(await engine.end(15_000)).toEqual({ code: 78, signal: null });
    expect(engine.stderr).toContain('svc-config.yaml:1:53: workers[0].config.host: ');
    expect(engine.stderr).toContain('bridge_token');
  });
});

describe('an engine that was killed', () => {
  test('[R6] leaves no listener and no connection, and its port can be used at once', async () => {
    const port = await freePort();
    await using killed = await EngineProcess.start(ports(port));
    await using worker = await RawWorker.connect(killed.url);
    killed.kill('SIGKILL');
    expect(await killed.end(5_000)).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await worker.closed).toMatchObject({ code: 1006 });
    expect(await isTaken(port)).toBe(false);
    await using successor = await EngineProcess.start(ports(port));
    await waitFor('the successor answers', () => isTaken(port));
    await using again = await RawWorker.connect(successor.url);
    await again.settled();
  });
});
