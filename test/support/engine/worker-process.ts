// A worker in a separate process, which the test can stop or kill at any moment.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../wait-for.ts';

const MAIN = fileURLToPath(new URL('./worker-main.ts', import.meta.url));
const ROUTE_MAIN = fileURLToPath(new URL('./route-worker-main.ts', import.meta.url));
const MANY_MAIN = fileURLToPath(new URL('../load/many-workers-main.ts', import.meta.url));

export class WorkerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #said = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'close');
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
  }

  /** Connects to the engine and registers one function, which answers its calls or never does. */
  static async start(url: string, functionId: string, manner: 'answers' | 'hangs'): Promise<WorkerProcess> {
    return await WorkerProcess.#run([MAIN, url, functionId, manner]);
  }

  /** Many workers with the SDK of the engine; each registers `restart::<number>`, counted from `first`. */
  static async startMany(url: string, count: number, first: number): Promise<WorkerProcess> {
    return await WorkerProcess.#run([MANY_MAIN, url, String(count), String(first)]);
  }

  /** A worker with the SDK of the engine that answers requests for a path with its name. */
  static async startRoute(url: string, path: string, name: string): Promise<WorkerProcess> {
    return await WorkerProcess.#run([ROUTE_MAIN, url, path, name]);
  }

  static async #run(args: readonly string[]): Promise<WorkerProcess> {
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    const worker = new WorkerProcess(spawn(process.execPath, args, { stdio }));
    await worker.says('ready');
    return worker;
  }

  /** Waits until it prints that text, and returns the whole line. */
  async says(word: string): Promise<string> {
    return await waitFor(
      `the worker process says '${word}'`,
      () => this.#said.split('\n').find((line) => line.startsWith(word)),
      60_000,
    );
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves when the process has ended. */
  async ended(): Promise<void> {
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
