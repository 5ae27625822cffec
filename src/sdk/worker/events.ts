// Who is notified of the connection of a worker: listeners of its events, and callers that await `ready`.

import { SvcError } from '../calls/errors.ts';

/**
 * Events of a worker, by name.
 *
 * @example
 * import { registerWorker, type WorkerEvents } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * svc.on('disconnected', ({ reason }: WorkerEvents['disconnected']) => console.warn(`engine lost: ${reason}`));
 */
export interface WorkerEvents {
  /** The first connection is up. */
  connected: { readonly worker_id: string };
  /** The connection was lost. The next one is already being made. */
  disconnected: { readonly code: number; readonly reason: string };
  /** A new connection is up and everything is registered on it again. */
  reconnected: { readonly worker_id: string };
  /** The engine refused this connection or one of its registrations. */
  rejected: Rejection;
  /** The engine is stopping: it starts nothing new and will close the connection. */
  draining: Record<string, never>;
}

/**
 * What the engine refused, and the reason.
 *
 * @example
 * import { registerWorker, type Rejection } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * svc.on('rejected', (rejection: Rejection) => {
 *   if (rejection.subject === 'connection') console.error(rejection.error.message);
 * });
 */
export type Rejection =
  | { readonly subject: 'connection'; readonly error: SvcError }
  | { readonly subject: 'function' | 'trigger' | 'trigger type'; readonly id: string; readonly error: SvcError };

/** Listeners by event. A listener that throws does not stop the others. */
export class EventListeners {
  readonly #listeners: { readonly [Name in keyof WorkerEvents]: Set<(detail: WorkerEvents[Name]) => void> } = {
    connected: new Set(),
    disconnected: new Set(),
    reconnected: new Set(),
    rejected: new Set(),
    draining: new Set(),
  };
  readonly #onThrow: (problem: string) => void;

  constructor(onThrow: (problem: string) => void) {
    this.#onThrow = onThrow;
  }

  add<Name extends keyof WorkerEvents>(name: Name, listener: (detail: WorkerEvents[Name]) => void): () => void {
    const listeners = this.#listeners[name];
    if (listeners === undefined) {
      const names = Object.keys(this.#listeners).join(', ');
      throw new SvcError('INVALID_ARGUMENTS', `event: ${JSON.stringify(name)}, expected one of ${names}`);
    }
    // A wrapper per call, so that a listener added twice is called twice.
    const entry = (detail: WorkerEvents[Name]): void => listener(detail);
    listeners.add(entry);
    return () => {
      listeners.delete(entry);
    };
  }

  has(name: keyof WorkerEvents): boolean {
    return this.#listeners[name].size > 0;
  }

  emit<Name extends keyof WorkerEvents>(name: Name, detail: WorkerEvents[Name]): void {
    for (const listener of [...this.#listeners[name]]) {
      try {
        listener(detail);
      } catch (error) {
        this.#onThrow(`a listener for '${name}' threw: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
  }
}

/** Callers that wait for the worker to be connected. */
export class Readiness {
  #isUp = false;
  /** Why there will be no further connection. */
  #end: SvcError | undefined;
  #waiters: Waiter[] = [];

  wait(): Promise<void> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (this.#isUp) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
  }

  up(): void {
    this.#isUp = true;
    for (const { resolve } of this.#takeWaiters()) resolve();
  }

  down(): void {
    this.#isUp = false;
  }

  /** The engine refused: a retry would fail until an operator changes its configuration. */
  refuse(error: SvcError): void {
    for (const { reject } of this.#takeWaiters()) reject(error);
  }

  end(error: SvcError): void {
    this.#isUp = false;
    this.#end = error;
    this.refuse(error);
  }

  #takeWaiters(): Waiter[] {
    const waiters = this.#waiters;
    this.#waiters = [];
    return waiters;
  }
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: SvcError) => void;
}
