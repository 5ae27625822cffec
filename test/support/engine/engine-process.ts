// The engine as a separate process, started as a user starts it, for tests of exit codes, signals and what remains
// after it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor, within } from '../wait-for.ts';

const SVC = fileURLToPath(new URL('../../../bin/svc.js', import.meta.url));
const READY = /^svc \S+ is running$/m;
const START_MS_MAX = 60_000;

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessOptions {
  /** Its `svc`; by default that of this checkout. */
  readonly svc?: string;
  /** The Node it runs on; by default that of the test. */
  readonly node?: string;
  readonly openFilesMax?: number;
  /** Of each of its threads. */
  readonly heapMib?: number;
  /** Router threads; one by default. */
  readonly threads?: number;
  /** Words before its command, such as those that enter another machine. */
  readonly entrance?: readonly string[];
  /** The URL of a module that every thread loads first. */
  readonly preload?: string;
}

export class EngineProcess implements AsyncDisposable {
  /** How it ended. */
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #folder: string;
  #stderr = '';

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    // `close` fires after the streams are read to their end.
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  }

  /** Starts it with that configuration file, without waiting. */
  static async spawn(
    yaml: string,
    {
      svc = SVC,
      node = process.execPath,
      openFilesMax,
      heapMib,
      threads = 1,
      entrance = [],
      preload,
    }: ProcessOptions = {},
  ): Promise<EngineProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-e2e-'));
    await writeFile(join(folder, 'svc-config.yaml'), yaml);
    const { NODE_OPTIONS: _options, FORCE_COLOR: _colour, ...env } = process.env;
    const command = [...entrance, node, svc, 'start', '--config', 'svc-config.yaml', '--threads', `${threads}`];
    const options = [
      ...(heapMib === undefined ? [] : [`--max-old-space-size=${heapMib}`]),
      ...(preload === undefined ? [] : [`--import=${preload}`]),
    ];
    const limit = openFilesMax === undefined ? '' : `ulimit -n ${openFilesMax}; `;
    return new EngineProcess(
      spawn('sh', ['-c', `${limit}exec "$0" "$@"`, ...command], {
        cwd: folder,
        env: { ...env, ...(options.length > 0 && { NODE_OPTIONS: options.join(' ') }) },
        stdio: ['ignore', 'ignore', 'pipe'],
      }),
      folder,
    );
  }

  /** Starts it and waits until it says that it is ready. */
  static async start(yaml: string, options: ProcessOptions = {}): Promise<EngineProcess> {
    const engine = await EngineProcess.spawn(yaml, options);
    const ready = waitFor(
      'the engine says it is running',
      () => READY.test(engine.stderr) && engine.urls.length > 0,
      START_MS_MAX,
    );
    const early = engine.ended.then(({ code }) => {
      throw new Error(`The engine ended with code ${code} instead of starting:\n${engine.stderr}`);
    });
    early.catch(() => {});
    try {
      await Promise.race([ready, early]);
    } catch (error) {
      await engine[Symbol.asyncDispose]();
      throw error;
    }
    return engine;
  }

  get configFile(): string {
    return join(this.#folder, 'svc-config.yaml');
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('The engine was never started');
    return pid;
  }

  /** The memory it has at this moment. */
  get rssBytes(): number {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1];
    if (kib === undefined) throw new Error('The system does not report the memory of the engine');
    return Number(kib) * 1024;
  }

  /** How many files and sockets it has open at this moment. */
  get openFiles(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The addresses it printed when it started, in the lines that are indented. Log lines name other engines too. */
  get urls(): string[] {
    return this.#stderr.match(/(?<=^ .*)ws:\/\/\S+:\d+/gm) ?? [];
  }

  get url(): string {
    const [url] = this.urls;
    if (url === undefined) throw new Error(`The engine printed no address:\n${this.#stderr}`);
    return url;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Its exit code and signal; fails when it has not ended in time. */
  async end(timeoutMs: number): Promise<ProcessEnd> {
    return await within(timeoutMs, 'the engine process ends', this.ended);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
