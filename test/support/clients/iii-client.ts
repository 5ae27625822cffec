// The published client of `iii`, unmodified. Its own telemetry is off unless a test turns it on.

import { type IIIClient, type InitOptions, registerWorker } from 'iii-sdk';

export class IiiClient implements AsyncDisposable {
  readonly sdk: IIIClient;

  constructor(url: string, options: InitOptions = {}) {
    this.sdk = registerWorker(url, {
      otel: { enabled: false },
      enableMetricsReporting: false,
      // A test that cuts a connection does not wait the usual second.
      reconnectionConfig: { initialDelayMs: 20, maxDelayMs: 50 },
      ...options,
    });
  }

  /** What else the registrations wait for, where several engines stand for one. */
  static afterReady: () => Promise<void> = async () => {};

  /** Resolves when all earlier registrations are done: the engine handles the frames of a connection in order. */
  async ready(): Promise<void> {
    await this.sdk.trigger({ function_id: 'engine::health::check', payload: {}, timeoutMs: 5_000 });
    await IiiClient.afterReady();
  }

  async call(functionId: string, payload?: unknown, fields: { timeoutMs?: number; metadata?: unknown } = {}) {
    const answer: unknown = await this.sdk.trigger({ function_id: functionId, payload, ...fields });
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sdk.shutdown();
  }
}
