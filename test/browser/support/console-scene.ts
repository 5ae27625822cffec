// The complete setup of the console's browser tests: an engine process, worker processes, and the console server as its
// own process, on free ports.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { freePort } from '../../support/free-port.ts';
import { within } from '../../support/wait-for.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CONSOLE = join(ROOT, 'src/console/dist/server.js');
const START_MS_MAX = 20_000;

export interface Ports {
  readonly bridge: number;
  readonly http: number;
  readonly stream: number;
  readonly console: number;
}

export type DemoWorker = 'shop' | 'billing' | 'office';

export interface ConsoleSceneOptions {
  /** More modules than the ports: YAML of list entries. */
  readonly modules?: string;
  /** Further flags of the console server. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Which workers of the demo run, and whether the shop generates traffic. */
  readonly workers?: readonly DemoWorker[];
  readonly busy?: boolean;
}

/** In memory, so that no test finds data of another. */
export const ALL_MODULES = `  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-pubsub}
  - {name: svc-cron, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
  - name: svc-queue
    config:
      queue_configs: {mail: {max_retries: 1, concurrency: 5, backoff_ms: 200}, audit: {type: standard}}
      adapter: {name: builtin, config: {store_method: in_memory}}
  - {name: svc-observability, config: {enabled: true, exporter: memory, logs_enabled: true, metrics_enabled: true, payloads: {'*': all}}}
`;

/** The same, with an alert that fires after the first failure. */
export const DEMO_MODULES = ALL_MODULES.replace(
  'metrics_enabled: true',
  'metrics_enabled: true, memory_max_spans: 20000, alerts: [{name: failing calls, metric: svc.invocations.error, threshold: 1}]',
);

export class ConsoleScene implements AsyncDisposable {
  readonly ports: Ports;
  readonly url: string;
  readonly #options: ConsoleSceneOptions;
  #engine: EngineProcess | undefined;
  readonly #consoles: Program[] = [];
  readonly #workers: Program[] = [];

  private constructor(ports: Ports, options: ConsoleSceneOptions) {
    this.ports = ports;
    this.url = `http://127.0.0.1:${ports.console}`;
    this.#options = options;
  }

  static async start(options: ConsoleSceneOptions = {}): Promise<ConsoleScene> {
    const scene = await ConsoleScene.withoutEngine(options);
    await scene.startEngine();
    for (const name of options.workers ?? []) await scene.startWorker(name);
    return scene;
  }

  /** The console server alone (APP-1). */
  static async withoutEngine(options: ConsoleSceneOptions = {}): Promise<ConsoleScene> {
    const [bridge, http, stream] = [await freePort(), await freePort(), await freePort()];
    const page = await freePort();
    const scene = new ConsoleScene({ bridge, http, stream, console: page }, options);
    await scene.#startConsoleAt(page, options);
    return scene;
  }

  /** Starts another console server of the same engine. Returns its address. */
  async startConsole(options: Pick<ConsoleSceneOptions, 'flags' | 'env'>): Promise<string> {
    const page = await freePort();
    await this.#startConsoleAt(page, options);
    return `http://127.0.0.1:${page}`;
  }

  async #startConsoleAt(page: number, { flags = [], env }: Pick<ConsoleSceneOptions, 'flags' | 'env'>): Promise<void> {
    const { bridge, http, stream } = this.ports;
    const places = [
      ...['--port', String(page), '--engine-port', String(http)],
      ...['--ws-port', String(stream), '--bridge-port', String(bridge)],
    ];
    this.#consoles.push(await Program.start([CONSOLE, ...places, ...flags], 'http://', env));
  }

  async startEngine(): Promise<void> {
    const { bridge, http, stream } = this.ports;
    this.#engine = await EngineProcess.start(`drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: ${bridge}}}
  - {name: svc-http, config: {port: ${http}}}
  - {name: svc-stream, config: {port: ${stream}, adapter: {name: kv, config: {store_method: in_memory}}}}
${this.#options.modules ?? ALL_MODULES}`);
  }

  /** As in a power failure: no connection is closed properly. */
  async killEngine(): Promise<void> {
    await this.#engine?.[Symbol.asyncDispose]();
    this.#engine = undefined;
  }

  async startWorker(name: DemoWorker): Promise<Program> {
    const file = join(import.meta.dirname, `demo/${name}-worker.ts`);
    const manner = this.#options.busy === true ? 'busy' : 'quiet';
    const { bridge, http } = this.ports;
    const addresses = [`ws://127.0.0.1:${bridge}`, manner, `http://127.0.0.1:${http}`];
    const worker = await Program.start([file, ...addresses], 'ready');
    this.#workers.push(worker);
    return worker;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker[Symbol.asyncDispose]()));
    await Promise.all(this.#consoles.map((server) => server[Symbol.asyncDispose]()));
    await this.killEngine();
  }
}

/** A program of this repository that prints a line on its standard output when it is ready. */
class Program implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, 'close');
  }

  static async start(
    args: readonly string[],
    word: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Program> {
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const program = new Program(child);
    let said = '';
    const ready = new Promise<void>((resolve, reject) => {
      const hear = (text: string): void => {
        said += text;
        if (said.includes(word)) resolve();
      };
      child.stdout.setEncoding('utf8').on('data', hear);
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      child.once('close', (code) => reject(new Error(`${args[0]} ended with ${code}:\n${said}`)));
    });
    await within(START_MS_MAX, `${args[0]} says ${word}`, ready);
    return program;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
