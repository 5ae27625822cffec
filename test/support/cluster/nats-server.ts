// A NATS of the test, which it may stop and start again on the same port with the same data.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takesConnections } from '../engine/takes-connections.ts';
import { freePort } from '../free-port.ts';
import { waitFor } from '../wait-for.ts';

/** Why tests of clusters cannot run here; `undefined` if they can. On CI they must run. */
export const NO_NATS_SERVER =
  process.env.CI !== undefined || spawnSync('nats-server', ['--version']).status === 0
    ? undefined
    : 'skipped: there is no nats-server (Debian: apt-get install nats-server)';

export interface NatsServerOptions {
  readonly hasJetStream?: boolean;
  /** Where it listens; on loopback by default. */
  readonly host?: string;
  /** Further lines of its configuration, such as users. */
  readonly more?: string;
}

export class NatsServer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #options: NatsServerOptions;
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string, options: NatsServerOptions) {
    this.port = port;
    this.#folder = folder;
    this.#options = options;
  }

  static async start(options: NatsServerOptions = {}): Promise<NatsServer> {
    const server = await NatsServer.reserve(options);
    await server.start();
    return server;
  }

  /** A free port for a NATS that is not started yet. */
  static async reserve(options: NatsServerOptions = {}): Promise<NatsServer> {
    return new NatsServer(await freePort(), await mkdtemp(join(tmpdir(), 'svc-nats-')), options);
  }

  get url(): string {
    return `nats://${this.#host}:${this.port}`;
  }

  get #host(): string {
    return this.#options.host ?? '127.0.0.1';
  }

  async start(): Promise<void> {
    const { hasJetStream = true, more = '' } = this.#options;
    const file = join(this.#folder, 'nats.conf');
    const store = hasJetStream ? `jetstream {store_dir: "${this.#folder}"}\n` : '';
    await writeFile(file, `listen: "${this.#host}:${this.port}"\n${store}${more}\n`);
    this.#child = spawn('nats-server', ['-c', file], { stdio: 'ignore' });
    await waitFor('NATS takes connections', () => takesConnections(this.port, this.#host));
  }

  /** At once, as a crash would. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  /** It answers nothing and closes nothing, until it is continued. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
