// The SDK in Node: timers, signals, AsyncLocalStorage, facts about the process. With its neighbours whose
// names end in `-node` the only file that knows Node.

import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { arch, hostname, platform as osName, release } from 'node:os';
import { BRIDGE_PORT_DEFAULT } from '../protocol/limits.ts';
import { nodeMemory } from './memory-node.ts';
import { openTelemetry } from './opentelemetry-node.ts';
import type { WorkerOptions } from './options.ts';
import type { TraceCarrier } from './outgoing-calls.ts';
import type { HostFacts, Platform, TerminationSignal, TerminationSignals } from './platform.ts';
import { openSocket } from './socket-node.ts';

/** A timer of the SDK serves all calls; it must not run in the context of the handler in which it happened to start. */
const outside = new AsyncResource('svc-sdk');

export const nodePlatform: Platform = {
  clock: {
    monotonicMs: () => performance.now(),
    wallMs: () => Date.now(),
    after(delayMs, task, kind) {
      const timer = outside.runInAsyncScope(setTimeout, undefined, task, delayMs);
      if (kind !== 'dial') timer.unref();
      return () => clearTimeout(timer);
    },
    afterTurn: (task) => void setImmediate(task),
  },
  random: Math.random,
  uuid: () => randomUUID(),
  openSocket,
  setsHeaders: true,
  memory: nodeMemory,
  createContextStorage: () => {
    const storage = new AsyncLocalStorage<TraceCarrier>();
    return openTelemetry.around({
      run: (value, run, first, second) => storage.run(value, run, first, second),
      current: () => storage.getStore(),
    });
  },
  signals: createSignals(),
  writeLog(level, message) {
    process.stderr.write(`svc-sdk ${level}: ${message}\n`);
  },
  describeHost(): HostFacts {
    const isolation = process.env.SVC_ISOLATION;
    return {
      runtime: 'node',
      name: process.env.SVC_WORKER_NAME || `${hostname()}:${process.pid}`,
      os: `${osName()} ${release()} (${arch()})`,
      pid: process.pid,
      ...(isolation === undefined ? {} : { isolation }),
    };
  },
  // An empty variable is one that was not set.
  requestedWire: () => process.env.SVC_WIRE || undefined,
};

/** Where a worker connects that names no address. */
export function defaultUrl(): string {
  return process.env.SVC_URL || `ws://127.0.0.1:${BRIDGE_PORT_DEFAULT}`;
}

/** With the token in `SVC_TOKEN`, unless one is given. It is of the engine at `SVC_URL`: nobody else is told. */
export function withOwnToken(url: string, options: WorkerOptions): WorkerOptions {
  const { token = process.env.SVC_TOKEN || undefined, headers = {} } = options;
  const isAuthorized = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return token === undefined || isAuthorized || url !== defaultUrl() ? options : { ...options, token };
}

/** One listener per signal for all workers of the process, and only while there are any. */
function createSignals(): TerminationSignals {
  const listeners = new Set<(signal: TerminationSignal) => void>();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signal !== 'SIGTERM' && signal !== 'SIGINT') return;
    for (const listener of [...listeners]) listener(signal);
  };
  return {
    listen(listener) {
      if (listeners.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
      listeners.add(listener);
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) {
          for (const signal of SIGNALS) process.off(signal, onSignal);
        }
      };
    },
    raise(signal) {
      // Other workers still drain and will raise it in their turn; a listener of the program decides for itself.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    },
  };
}

const SIGNALS: readonly TerminationSignal[] = ['SIGTERM', 'SIGINT'];
