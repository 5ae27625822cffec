// All workers that the configuration gives a path: started when the engine runs, changed when the file changes.
//
// Invariants: a worker is started when every earlier one of its name has ended; none is dropped before its end.

import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ProjectWorker } from '../../core/workers/worker-manifest.ts';
import type { ModuleContext } from '../module.ts';
import { SupervisedWorker, type SupervisionContext } from './supervised-worker.ts';

/** How long a worker that is removed from the file, or changed in it, may take to finish. */
export const DRAIN_MS_DEFAULT = 25_000;

export class Supervisor {
  readonly #context: ModuleContext;
  readonly #workers = new Map<string, SupervisedWorker>();
  /** Workers that were removed from the file or changed in it and have not ended yet, with their ends. */
  readonly #leaving = new Map<SupervisedWorker, Promise<void>>();
  #isStopping = false;
  #ends: Promise<unknown> | undefined;

  constructor(context: ModuleContext) {
    this.#context = context;
  }

  all(): SupervisedWorker[] {
    return [...this.#workers.values()];
  }

  find(name: string): SupervisedWorker | undefined {
    return this.#workers.get(name);
  }

  /** The functions that connections of that name have registered. */
  functionsOf(name: string): string[] {
    const sessions = this.#context.router.workers().filter(({ profile }) => profile?.name === name);
    return [...new Set(sessions.flatMap(({ functions }) => [...functions]))].sort();
  }

  /** Applies the file: new workers start, changed ones restart, removed ones stop. */
  follow(entries: readonly ProjectWorker[]): void {
    if (this.#isStopping) return;
    for (const worker of this.all()) {
      if (entries.some((entry) => isDeepStrictEqual(entry, worker.entry))) continue;
      this.#workers.delete(worker.entry.name);
      this.#leaving.set(
        worker,
        worker.stop(DRAIN_MS_DEFAULT).finally(() => this.#leaving.delete(worker)),
      );
    }
    for (const entry of entries) {
      if (this.#workers.has(entry.name)) continue;
      const worker = new SupervisedWorker(entry, this.#workerContext(), this.#untilLeft(entry.name));
      this.#workers.set(entry.name, worker);
      // The reason is in its output and its status, and the start is retried.
      worker.start().catch(() => {});
    }
  }

  stop(): void {
    this.#isStopping = true;
    const workers = [...this.all(), ...this.#leaving.keys()];
    this.#ends = Promise.all(workers.map((worker) => worker.abandon()));
  }

  /** Resolves when no process is left. */
  async close(): Promise<void> {
    await this.#ends;
  }

  #untilLeft(name: string): Promise<unknown> {
    const ends = [...this.#leaving].filter(([{ entry }]) => entry.name === name).map(([, end]) => end);
    return Promise.all(ends);
  }

  #workerContext(): SupervisionContext {
    const { clock, logger, configuration, settings, router } = this.#context;
    const folder = configuration.file === undefined ? process.cwd() : dirname(configuration.file);
    return {
      clock,
      logger,
      base: (path) => resolve(folder, path),
      environment: (name) => {
        const listeners = configuration.listeners();
        const { address: url, tls } = listeners.find((listener) => listener.name === 'workers') ?? {};
        const http = listeners.find((listener) => listener.name === 'http');
        const caFile = tls?.ca_file ?? http?.tls?.ca_file;
        return {
          SVC_URL: url,
          SVC_NODE: process.execPath,
          SVC_WORKER_NAME: name,
          ...(http !== undefined && { SVC_HTTP_URL: http.address.replace(ANY_ADDRESS, '//127.0.0.1:') }),
          ...(caFile !== undefined && { SVC_CA_FILE: caFile }),
          ...(tls?.server_name !== undefined && { SVC_SERVER_NAME: tls.server_name }),
          ...(router.isDropIn && { III_URL: url }),
          ...(settings.bridgeToken !== undefined && { SVC_TOKEN: settings.bridgeToken }),
        };
      },
    };
  }
}

/** A listener on every address of the machine, in its address. */
const ANY_ADDRESS = /\/\/(0\.0\.0\.0|\[::\]):/;
