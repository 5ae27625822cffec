// `svc-sdk/testing` (SDK-11): `createFake`, an engine inside the test's own process, and `startEngine`, a real engine
// for a test, on free ports and in memory, that ends with the test.
//
// `startEngine` runs the installed package `svc`, as a user would. It finds the package by walking up the folders
// instead of resolving it: the package need not export its program.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testConfiguration } from './testing/testing-fake.ts';

export type { FakeRequest, FakeResponse } from './testing/testing-fake.ts';
export { createFake, type Fake, type FakeOptions, type RecordedCall } from './testing/testing-fake.ts';

/**
 * Options of `startEngine`.
 *
 * @example
 * import { startEngine, type TestEngineOptions } from 'svc-sdk/testing';
 *
 * const options: TestEngineOptions = { queues: { mail: { max_retries: 1, backoff_ms: 10 } } };
 * const engine = await startEngine(options);
 * await engine.stop();
 */
export interface TestEngineOptions {
  /** Queues in addition to `default`: by name, with the fields of `queue_configs`. */
  readonly queues?: Readonly<Record<string, object>>;
  /** Text of a whole configuration, in place of the one with every module in memory. */
  readonly config?: string;
  /** The program `bin/svc.js` to run. Default: that of the package `svc` installed for the test. */
  readonly program?: string;
}

/**
 * An engine that a test started.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 * import { startEngine, type TestEngine } from 'svc-sdk/testing';
 *
 * const engine: TestEngine = await startEngine();
 * const svc = registerWorker(engine.url, { stream_url: engine.stream_url, handle_signals: false });
 * await svc.ready();
 * await svc.shutdown();
 * await engine.stop();
 */
export interface TestEngine {
  /** For `registerWorker`. */
  readonly url: string;
  /** The address of HTTP triggers; empty if the configuration has no HTTP module. */
  readonly http_url: string;
  /** For the option `stream_url`; empty if the configuration has no streams. */
  readonly stream_url: string;
  /** Ends the engine; resolves when it and its data are gone. May be called again. */
  stop(): Promise<void>;
}

/**
 * Starts an engine on free ports, with HTTP, state, streams, queues, events and cron, all in memory.
 *
 * @example
 * import { registerWorker } from 'svc-sdk';
 * import { startEngine } from 'svc-sdk/testing';
 *
 * const engine = await startEngine();
 * const svc = registerWorker(engine.url, { handle_signals: false });
 * await svc.state.set('carts', 'ann', { items: 1 });
 * console.log(await svc.state.get('carts', 'ann'));
 * await svc.shutdown();
 * await engine.stop();
 */
export async function startEngine(options: TestEngineOptions = {}): Promise<TestEngine> {
  const program = options.program ?? findProgram();
  const folder = await mkdtemp(join(tmpdir(), 'svc-testing-'));
  await writeFile(join(folder, 'svc-config.yaml'), options.config ?? testConfiguration(options.queues));
  const child = spawn(process.execPath, [program, 'start', '--json'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let end: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    // Work that the test left running is not awaited.
    child.kill('SIGKILL');
    end ??= ended.then(() => rm(folder, { recursive: true, force: true }));
    return end;
  };
  // A test that ends without stopping its engine leaves none running.
  const killAtExit = () => child.kill('SIGKILL');
  process.once('exit', killAtExit);
  child.once('close', () => process.off('exit', killAtExit));
  try {
    const addresses = await readAddresses(child);
    const addressOf = (name: string): string => addresses.get(name) ?? '';
    return { url: addressOf('workers'), http_url: addressOf('http'), stream_url: addressOf('streams'), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function findProgram(): string {
  const starts = [process.cwd(), dirname(fileURLToPath(import.meta.url))];
  const found = starts.flatMap(foldersAbove).map((folder) => join(folder, 'node_modules', 'svc', 'bin', 'svc.js'));
  const program = found.find((path) => existsSync(path));
  if (program !== undefined) return program;
  throw new Error(`The package 'svc' is not installed at or above ${starts[0]}: npm install --save-dev svc`);
}

function foldersAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}

/** The engine prints its addresses as its first line. */
function readAddresses(child: ChildProcess): Promise<ReadonlyMap<string, string>> {
  return new Promise((resolve, reject) => {
    let out = '';
    let log = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.includes('\n')) resolve(addressesIn(out.slice(0, out.indexOf('\n'))));
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-LOG_CHARS_MAX);
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`The engine did not start:\n${log}`)));
  });
}

const LOG_CHARS_MAX = 10_000;

function addressesIn(line: string): ReadonlyMap<string, string> {
  const document: unknown = JSON.parse(line);
  const listeners: unknown = isRecord(document) ? document.listeners : undefined;
  if (!Array.isArray(listeners)) throw new Error(`The engine printed no listeners: ${line}`);
  return new Map(listeners.filter(isRecord).map(({ name, address }) => [String(name), String(address)]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
