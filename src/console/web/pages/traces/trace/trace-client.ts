// The page's side of the trace worker: one for each open trace, ended with its page. Requests are answered in order.

import type { TraceReplies, TraceRequest } from '../logic/trace-session.ts';
import type { WorkerReply, WorkerRequest } from './trace-worker.ts';

export class TraceClient {
  readonly #worker = new Worker(new URL('./trace-worker.ts', import.meta.url), { type: 'module' });
  readonly #waiting = new Map<number, { resolve(reply: never): void; reject(reason: Error): void }>();
  #nextId = 1;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => {
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ('problem' in data) waiting?.reject(new Error(data.problem));
      // The session answers each request with the reply of the same name.
      else waiting?.resolve(data.reply as never);
    };
    this.#worker.onerror = () => this.#fail('The thread that lays out traces could not be started');
  }

  ask<R extends TraceRequest>(request: R): Promise<TraceReplies[R['op']]> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, request } satisfies WorkerRequest);
    });
  }

  end(): void {
    this.#worker.terminate();
    this.#waiting.clear();
  }

  #fail(reason: string): void {
    for (const { reject } of this.#waiting.values()) reject(new Error(reason));
    this.#waiting.clear();
  }
}
