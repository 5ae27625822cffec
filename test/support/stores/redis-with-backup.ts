// A Redis of the test that can go back to how it was.

import { cpSync, rmSync } from 'node:fs';
import { TemporaryFolder } from '../engine/temporary-folder.ts';
import { RedisServer } from './redis-server.ts';

export class RedisWithBackup implements AsyncDisposable {
  readonly server: RedisServer;
  readonly #folder: TemporaryFolder;

  private constructor(server: RedisServer, folder: TemporaryFolder) {
    this.server = server;
    this.#folder = folder;
  }

  static async start(): Promise<RedisWithBackup> {
    const [server, folder] = [await RedisServer.reserve(), new TemporaryFolder()];
    const redis = new RedisWithBackup(server, folder);
    await server.start(redis.#data);
    return redis;
  }

  get #data(): string {
    return this.#folder.path;
  }

  /** All that was acknowledged is on the disk. */
  backUp(): void {
    cpSync(`${this.#data}/appendonlydir`, `${this.#data}/backup`, { recursive: true });
  }

  async goBack(): Promise<void> {
    await this.server.stop();
    rmSync(`${this.#data}/appendonlydir`, { recursive: true });
    cpSync(`${this.#data}/backup`, `${this.#data}/appendonlydir`, { recursive: true });
    await this.server.start(this.#data);
  }

  async restart(): Promise<void> {
    await this.server.stop();
    await this.server.start(this.#data);
  }

  async loseAll(): Promise<void> {
    await this.server.stop();
    rmSync(`${this.#data}/appendonlydir`, { recursive: true });
    await this.server.start(this.#data);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    this.#folder[Symbol.dispose]();
  }
}
