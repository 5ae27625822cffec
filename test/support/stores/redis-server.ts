// A Redis of the test, which it may stop and start again, and the Redis of the machine.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from '@redis/client';
import { takesConnections } from '../engine/takes-connections.ts';
import { freePort } from '../free-port.ts';
import { waitFor } from '../wait-for.ts';

/** Shared by all tests: use only keys and channels with a prefix of the test. */
export const SHARED_REDIS = process.env.SVC_TEST_REDIS ?? 'redis://127.0.0.1:6379';

/** Why tests that stop a Redis cannot run here; `undefined` if they can. On CI they must run. */
export const NO_REDIS_SERVER =
  process.env.CI !== undefined || spawnSync('redis-server', ['--version']).status === 0
    ? undefined
    : 'skipped: there is no redis-server (Debian: apt-get install redis-server)';

export class RedisServer implements AsyncDisposable {
  readonly port: number;
  readonly #host: string;
  #child: ChildProcess | undefined;

  private constructor(port: number, host: string) {
    this.port = port;
    this.#host = host;
  }

  /** A free port for a Redis that is not started yet. */
  static async reserve(host = '127.0.0.1'): Promise<RedisServer> {
    return new RedisServer(await freePort(), host);
  }

  static async start(host?: string): Promise<RedisServer> {
    const server = await RedisServer.reserve(host);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://${this.#host}:${this.port}`;
  }

  /** `keptIn`: a folder in which data outlives the process; without one it starts empty. */
  async start(keptIn?: string): Promise<void> {
    const kept = keptIn === undefined ? ['no'] : ['yes', '--appendfsync', 'always', '--dir', keptIn];
    const args = [
      '--port',
      String(this.port),
      '--bind',
      this.#host,
      '--protected-mode',
      'no',
      '--save',
      '',
      '--appendonly',
      ...kept,
    ];
    this.#child = spawn('redis-server', args, { stdio: 'ignore' });
    await waitFor('Redis takes connections', () => takesConnections(this.port, this.#host));
  }

  /** At once, as a crash would. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  async command(...args: string[]): Promise<void> {
    const client = await createClient({ url: this.url }).connect();
    await client.sendCommand(args);
    client.destroy();
  }

  /** It answers nothing and closes nothing, until it is continued. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
