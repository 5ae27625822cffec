// The console server as the worker `svc-console`: lists show it by that name, and the connection reports at once when
// the engine comes and goes (APP-1, APP-2).

import { createWorker, nodePlatform, withTls } from '../../sdk/internal.ts';
import type { InternalOptions } from '../../sdk/worker/options.ts';
import type { SvcWorker } from '../../sdk/worker/svc-worker.ts';
import type { EngineLink } from '../api/console-server.ts';
import type { EngineAddress } from './engine-address.ts';
import type { ConsoleOptions } from './options.ts';
import { START_HINT } from './proxy.ts';

export class BridgeLink {
  readonly #engine: EngineAddress;
  readonly #worker: SvcWorker;
  #isConnected = false;
  #sinceMs = Date.now();
  #error: string | null = null;

  /** `printLine` receives a line for the user who started the server. */
  constructor({ token, trust }: ConsoleOptions, engine: EngineAddress, printLine: (line: string) => void) {
    this.#engine = engine;
    const url = engine.workers;
    const tls = url.startsWith('wss:') ? (trust ?? {}) : undefined;
    const workerOptions: InternalOptions = {
      worker_name: 'svc-console',
      description: 'The console server',
      handle_signals: false,
      ...(token !== undefined && { token }),
      log: (level, message) => {
        if (level !== 'info') this.#error = message;
      },
    };
    this.#worker = createWorker(url, workerOptions, withTls(nodePlatform, url, { tls }));
    for (const event of ['connected', 'reconnected'] as const) {
      this.#worker.on(event, () => {
        if (!this.#isConnected) printLine(`Connected to the engine at ${url}`);
        this.#turn(true);
      });
    }
    this.#worker.on('disconnected', () => {
      if (this.#isConnected) printLine(`Lost the engine at ${url}; the console keeps running and waits for it`);
      this.#turn(false);
    });
    this.#worker.on('rejected', () =>
      printLine(`The engine at ${url} refused the console: ${this.#error ?? 'no reason given'}`),
    );
  }

  facts(): EngineLink {
    const { http, streams, workers } = this.#engine;
    return {
      http_url: http,
      stream_url: streams,
      bridge_url: workers,
      connected: this.#isConnected,
      since: this.#sinceMs,
      error: this.#isConnected ? null : this.#error,
      hint: START_HINT,
    };
  }

  async stop(): Promise<void> {
    await this.#worker.shutdown();
  }

  #turn(isConnected: boolean): void {
    if (isConnected === this.#isConnected) return;
    this.#isConnected = isConnected;
    this.#sinceMs = Date.now();
    if (isConnected) this.#error = null;
  }
}
