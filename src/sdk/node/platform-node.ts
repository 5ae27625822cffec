// The SDK in Node: timers, signals, AsyncLocalStorage, facts about the process. Only this file and those whose names
// end in `-node` use Node.

import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { arch, hostname, platform as osName, release } from 'node:os';
import { BRIDGE_PORT_DEFAULT } from '../../protocol/frames/limits.ts';
import { steadyTime } from '../../protocol/steady-time.ts';
import { SvcError } from '../calls/errors.ts';
import type { TraceCarrier } from '../calls/trace-context.ts';
import { checkUrl, type WorkerOptions } from '../worker/options.ts';
import type { HostDescription, Platform, TerminationSignal, TerminationSignals } from '../worker/platform.ts';
import { nodeMemory } from './memory-node.ts';
import { openTelemetry } from './opentelemetry-node.ts';
import { openSocket } from './socket-node.ts';
import { connectionOptions, withTlsOfEnvironment } from './tls-node.ts';

/** A timer of the SDK serves all calls; it must not run in the context of the handler that happened to start it. */
const outside = new AsyncResource('svc-sdk');

export const nodePlatform: Platform = {
  clock: {
    monotonicMs: () => performance.now(),
    wallMs: steadyTime(Date.now, () => performance.now(), performance.timeOrigin),
    after(delayMs, task, kind) {
      const timer = outside.runInAsyncScope(setTimeout, undefined, task, delayMs);
      if (kind !== 'dial') timer.unref();
      return () => clearTimeout(timer);
    },
    afterTurn: (task) => void setImmediate(task),
  },
  random: Math.random,
  uuid: () => randomUUID(),
  openSocket: (request, events) => openSocket(request, events),
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
  describeHost(): HostDescription {
    const isolation = process.env.SVC_ISOLATION;
    return {
      runtime: 'node',
      name: process.env.SVC_WORKER_NAME || `${hostname()}:${process.pid}`,
      os: `${osName()} ${release()} (${arch()})`,
      pid: process.pid,
      ...(isolation === undefined ? {} : { isolation }),
    };
  },
  // An empty variable counts as not set.
  requestedWire: () => process.env.SVC_WIRE || undefined,
};

/** The address that a worker connects to when none is given. */
export function defaultUrl(): string {
  return process.env.SVC_URL || `ws://127.0.0.1:${BRIDGE_PORT_DEFAULT}`;
}

/** The platform of a worker that may connect to any of these engines. */
export function withAddresses(platform: Platform, urls: readonly string[]): Platform {
  const checked = urls.map(checkUrl);
  return { ...platform, nextUrl: (url) => checked[(checked.indexOf(url) + 1) % checked.length] ?? url };
}

/** Adds the token of `SVC_TOKEN`, unless one is given. It belongs to the engine at `SVC_URL` and goes to no other. */
export function withOwnToken(url: string, options: WorkerOptions): WorkerOptions {
  const { token = process.env.SVC_TOKEN || undefined, headers = {} } = options;
  const isAuthorized = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  return token === undefined || isAuthorized || url !== defaultUrl() ? options : { ...options, token };
}

/**
 * The platform with the TLS of one worker, for all its connections. The files must be readable now; a later dial that
 * cannot read them uses what was read before.
 */
export function withTls(
  platform: Platform,
  url: string,
  { tls, stream_url: streamUrl }: Pick<WorkerOptions, 'tls' | 'stream_url'>,
): Platform {
  if (tls !== undefined && !isSecure(url) && !(streamUrl !== undefined && isSecure(streamUrl))) {
    throw new SvcError('INVALID_ARGUMENTS', `tls: needs an address that begins with wss://, found ${url}`);
  }
  const options = withTlsOfEnvironment(tls, url === defaultUrl(), process.env);
  let secured = connectionOptions(options);
  return {
    ...platform,
    openSocket(request, events) {
      try {
        secured = connectionOptions(options);
      } catch (error) {
        platform.writeLog('warn', error instanceof Error ? error.message : String(error));
      }
      return openSocket(request, events, secured);
    },
  };
}

function isSecure(url: string): boolean {
  return url.startsWith('wss:');
}

/** One listener per signal for all workers of the process, and only while there are workers. */
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
      // Other workers still drain and raise it later; if the program has a listener, that one decides.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    },
  };
}

const SIGNALS: readonly TerminationSignal[] = ['SIGTERM', 'SIGINT'];
