// The SDK in a page or a web worker: the browser's clock, random numbers, sockets and log.

import { utf8Length } from '../sdk/wire/wire.ts';
import type { ContextStorage, HostDescription, LogLevel, Platform, SocketEvents } from '../sdk/worker/platform.ts';
import { BrowserSocket, type GetToken } from './socket-browser.ts';

/** `holdBack` wraps the events of a worker's socket. */
export function createPlatform(
  getToken: GetToken | undefined,
  holdBack: (events: SocketEvents) => SocketEvents,
): Platform {
  return {
    clock: {
      monotonicMs: () => performance.now(),
      wallMs: () => Date.now(),
      after(delayMs, task, kind) {
        if (kind === 'dial') return afterWithNetwork(delayMs, task);
        const timer = setTimeout(task, delayMs);
        return () => clearTimeout(timer);
      },
      afterTurn: (task) => queueMicrotask(task),
    },
    random: Math.random,
    uuid,
    openSocket: (request, events) =>
      request.purpose === 'worker'
        ? new BrowserSocket(request, holdBack(events), getToken)
        : new BrowserSocket(request, events, undefined),
    setsHeaders: false,
    memory: { allocate: (bytes) => new Uint8Array(bytes), byteLength: utf8Length },
    createContextStorage,
    signals: undefined,
    writeLog(level: LogLevel, message: string) {
      // biome-ignore lint/suspicious/noConsole: the one place where a page shows what happens in it.
      console[level](`svc-browser-sdk: ${message}`);
    },
    describeHost: (): HostDescription => ({ runtime: 'browser', name: `browser:${location.host}` }),
    requestedWire: () => 'json',
  };
}

/** A timer for a dial: waits while the browser knows that there is no network, and runs at once when it returns. */
function afterWithNetwork(delayMs: number, task: () => void): () => void {
  const run = (): void => {
    cancel();
    task();
  };
  const timer = setTimeout(() => navigator.onLine && run(), delayMs);
  const cancel = (): void => {
    clearTimeout(timer);
    removeEventListener('online', run);
  };
  addEventListener('online', run);
  return cancel;
}

/** `crypto.randomUUID` exists only in pages served over TLS. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A browser cannot carry a value through `await`: it is set only for what a handler calls before its first one. */
function createContextStorage<T>(): ContextStorage<T> {
  let current: T | undefined;
  return {
    run(value, run, first, second) {
      const before = current;
      current = value;
      try {
        return run(first, second);
      } finally {
        current = before;
      }
    },
    current: () => current,
  };
}
