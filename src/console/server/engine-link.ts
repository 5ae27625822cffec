// The console server as the worker `svc-console`: lists show it by that name, and the connection reports at once when
// the engine comes and goes (APP-1, APP-2).

import { hostInUrl } from '../../core/access/origin.ts';
import { createWorker } from '../../sdk/internal.ts';
import type { SvcWorker } from '../../sdk/worker/svc-worker.ts';
import type { EngineLink } from '../api/console-server.ts';
import type { ConsoleOptions } from './options.ts';
import { START_HINT } from './proxy.ts';

export class BridgeLink {
  readonly #options: ConsoleOptions;
  readonly #worker: SvcWorker;
  #isConnected = false;
  #sinceMs = Date.now();
  #error: string | null = null;

  /** `printLine` receives a line for the user who started the server. */
  constructor(options: ConsoleOptions, printLine: (line: string) => void) {
    this.#options = options;
    const { engineHost, bridgePort, token } = options;
    const url = `ws://${hostInUrl(engineHost)}:${bridgePort}`;
    this.#worker = createWorker(url, {
      worker_name: 'svc-console',
      description: 'The console server',
      handle_signals: false,
      ...(token !== undefined && { token }),
      log: (level, message) => {
        if (level !== 'info') this.#error = message;
      },
    });
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
    const { engineHost, enginePort, streamPort, bridgePort } = this.#options;
    return {
      http_url: `http://${hostInUrl(engineHost)}:${enginePort}`,
      stream_url: `ws://${hostInUrl(engineHost)}:${streamPort}`,
      bridge_url: `ws://${hostInUrl(engineHost)}:${bridgePort}`,
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
