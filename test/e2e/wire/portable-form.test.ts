// A client in another language, with nothing but its standard MessagePack library: it calls and answers workers of
// every form.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { registerWorker } from '../../../src/sdk/index.ts';
import { BinaryClient } from '../../support/clients/binary-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { within } from '../../support/wait-for.ts';

/** Debian's, which sees Debian's packages. */
const PYTHON = '/usr/bin/python3';
const PROGRAM = join(import.meta.dirname, '../../support/clients/portable_worker.py');
const hasPython = process.env.CI !== undefined || spawnSync(PYTHON, ['-c', 'import msgpack']).status === 0;

interface Outcome {
  readonly is_error: boolean;
  readonly value: unknown;
}

class PythonWorker implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #lines: Interface;

  private constructor(process: ChildProcess, lines: Interface) {
    this.#process = process;
    this.#lines = lines;
  }

  static async start(url: string): Promise<PythonWorker> {
    const { hostname, port } = new URL(url);
    const process = spawn(PYTHON, [PROGRAM, hostname, port], { stdio: ['pipe', 'pipe', 'inherit'] });
    const worker = new PythonWorker(process, createInterface(process.stdout));
    expect(await worker.#line()).toBe('ready');
    return worker;
  }

  async call(functionId: string, data: unknown): Promise<Outcome> {
    const line = this.#line();
    this.#process.stdin?.write(`${JSON.stringify({ function_id: functionId, data })}\n`);
    return JSON.parse(await line);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.stdin?.end();
    this.#process.kill();
    await ended;
  }

  async #line(): Promise<string> {
    const [line] = await within(10_000, 'the Python worker writes a line', once(this.#lines, 'line'));
    return String(line);
  }
}

const VALUE = {
  id: 'größe-€-😀',
  items: [{ n: 0, price: 19.99 }, { n: -1 }, { n: 2 ** 31 }, { n: 2 ** 53 - 1 }],
  none: null,
  truth: [true, false],
  nested: [[{}, []]],
};

describe.skipIf(!hasPython)('a Python worker of the portable form', () => {
  test('[wire 2.5] answers callers of every form, and calls workers of every form', async () => {
    await using engine = await startTestEngine();
    const svc = registerWorker(engine.url, { handle_signals: false, log: () => {} });
    await svc.registerFunction('node::echo', (value: unknown) => value).ready();
    await svc.registerFunction('node::price', ({ n }: { n: number }) => n * 1.5).ready();
    await using json = await RawWorker.connect(engine.url);
    await json.serve('json::echo', (value) => value);
    await using python = await PythonWorker.start(engine.url);

    // Twice: svc-sdk packs objects by number from then on.
    for (let round = 0; round < 3; round++) {
      expect(await svc.trigger({ function_id: 'python::echo', payload: VALUE })).toEqual(VALUE);
    }
    expect(await json.call('python::echo', VALUE)).toMatchObject({ result: VALUE });
    for (const functionId of ['node::echo', 'json::echo', 'python::echo']) {
      expect(await python.call(functionId, VALUE)).toEqual({ is_error: false, value: VALUE });
    }
    const order = { items: [{ n: 1 }, { n: 2 }, { n: 3 }] };
    expect(await svc.trigger({ function_id: 'python::total', payload: order })).toBe(9);
    await svc.shutdown();
  });

  test('[wire 2.5] gets payloads of svc-sdk as MessagePack, and the state of the engine as JSON text', async () => {
    await using engine = await startTestEngine();
    const svc = registerWorker(engine.url, { handle_signals: false, log: () => {} });
    await using python = await PythonWorker.start(engine.url);
    const error = { is_error: true, value: { code: 'python_error' } };
    expect(await svc.trigger({ function_id: 'python::echo', payload: { text: 'x'.repeat(300_000) } })).toEqual({
      text: 'x'.repeat(300_000),
    });
    expect(await python.call('python::total', 1)).toMatchObject(error);
    expect(await python.call('engine::functions::list', {})).toMatchObject({ is_error: false });
    await svc.shutdown();
  });
});

describe('the portable form', () => {
  test('[wire 2.5] refuses what JSON cannot express, where a client of another form needs it', async () => {
    await using engine = await startTestEngine();
    await using json = await RawWorker.connect(engine.url);
    await json.serve('json::echo', (value) => value);
    await using client = await BinaryClient.connect(engine.url);
    const answer = await client.callPacked('json::echo', Buffer.from('81a161c40100', 'hex'));
    expect(answer).toMatchObject({ isError: true, value: { code: 'BAD_REQUEST' } });
    expect(String((answer.value as { message: string }).message)).toContain(
      'The payload for json::echo is not readable MessagePack: at byte 3: binary data, which JSON does not have',
    );
    expect(await client.callPacked('json::echo', Buffer.from('81a16101', 'hex'))).toMatchObject({ value: { a: 1 } });
  });

  test('[wire 2.5] a client that offers names of 0.1.0 gets JSON', async () => {
    await using engine = await startTestEngine();
    await using client = await RawWorker.connect(engine.url, { subprotocols: ['svc.msgpack.v1', 'svc.json.v1'] });
    expect(client.socket.protocol).toBe('svc.json.v1');
  });
});
