// The options of a worker, and their defaults.

import { CALL_TIMEOUT_MS_DEFAULT, CALL_TIMEOUT_MS_MAX, ID_BYTES_MAX } from '../../protocol/frames/limits.ts';
import type { Subprotocol } from '../../protocol/frames/subprotocols.ts';
import { SvcError } from '../calls/errors.ts';
import { utf8Length } from '../wire/wire.ts';
import type { HostDescription, LogLevel, Platform } from './platform.ts';

/**
 * Options of `registerWorker`.
 *
 * @example
 * import { registerWorker, type WorkerOptions } from 'svc-sdk';
 *
 * const options: WorkerOptions = { worker_name: 'orders', description: 'Takes orders', timeout_ms: 10_000 };
 * registerWorker(process.env.SVC_URL, options);
 */
export interface WorkerOptions {
  /** Shown by console and CLI; several workers may share one. Default: `SVC_WORKER_NAME`, else `<host>:<pid>`. */
  readonly worker_name?: string | undefined;
  /** The same as `worker_name`. */
  readonly workerName?: string | undefined;
  readonly description?: string | undefined;
  /** Sent with each request that opens a connection to the engine, also for channels; not to the stream server. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as `Authorization: Bearer <token>`. Default: `SVC_TOKEN`, which is only for the engine at `SVC_URL`. */
  readonly token?: string | undefined;
  /** For calls without a `timeout_ms`: 1 to 3 600 000. Default 30 000. */
  readonly timeout_ms?: number | undefined;
  /** The same as `timeout_ms`. */
  readonly timeoutMs?: number | undefined;
  /** Drain and end on SIGTERM and SIGINT. Default true. */
  readonly handle_signals?: boolean | undefined;
  /** How long handlers may run on during a shutdown: 0 to 3 600 000. Default 25 000. */
  readonly drain_timeout_ms?: number | undefined;
  /**
   * Number of calls that handlers of this worker run at a time, 1 to 65 536. Further calls go to other workers of the
   * function. If there are none, they wait in the engine, within their timeout. Default: the engine's limit of 1 024.
   */
  readonly max_in_flight?: number | undefined;
  /**
   * Memory for calls that cannot be sent yet, in bytes: 1 024 to 4 GiB, default 64 MiB. Calls wait there without a
   * connection, and while the engine has as many unanswered calls of this connection as it allows, 4 096 by default.
   * When it is full, further calls fail with `OVERLOADED`.
   */
  readonly unsent_bytes_max?: number | undefined;
  /** Largest message in either direction, in bytes, as the engine allows: 1 024 to 256 MiB. Default 16 MiB. */
  readonly frame_bytes_max?: number | undefined;
  /**
   * The form of messages: `binary`, or `json` to read them on the wire. Default: `SVC_WIRE`, else `binary`. An engine
   * without a binary form always gets JSON.
   */
  readonly wire?: 'binary' | 'json' | undefined;
  /** For `wss://`. Default: the variables named below; without any, the authorities that Node trusts. */
  readonly tls?: TlsOptions | undefined;
  /** Address of the stream server, for subscriptions. Default: port 3112 of the engine's host. */
  readonly stream_url?: string | undefined;
  /** Takes the SDK's own lines about connection and registrations. By default they go to standard error. */
  readonly log?: ((level: 'info' | 'warn' | 'error', message: string) => void) | undefined;
}

/**
 * Trust and identity of connections with TLS. The files are read for each connection, so they can be replaced.
 *
 * @example
 * import { registerWorker, type TlsOptions } from 'svc-sdk';
 *
 * const tls: TlsOptions = { ca_file: '/etc/svc/ca.pem' };
 * registerWorker('wss://engine.internal:49134', { worker_name: 'orders', tls });
 */
export interface TlsOptions {
  /** Certificates of the only authorities to trust, PEM. Default: `SVC_CA_FILE`. */
  readonly ca_file?: string | undefined;
  /** The certificate of this program, for an engine that requires one, PEM. Default: `SVC_CERT_FILE`. */
  readonly cert_file?: string | undefined;
  /** Its private key. Default: `SVC_KEY_FILE`. */
  readonly key_file?: string | undefined;
  /** The name in the engine's certificate, if it is not the host of the address. Default: `SVC_SERVER_NAME`. */
  readonly server_name?: string | undefined;
}

/** Options that only the CLI, tests and benchmarks set. */
export interface InternalOptions extends WorkerOptions {
  /** False for a plain caller, which is not listed as a worker. */
  readonly announce?: boolean | undefined;
  /** False: the first connection that fails or ends is the last, and everything that waits fails with it. */
  readonly reconnect?: boolean | undefined;
}

export interface Settings {
  /** In use, or tried next. */
  url: string;
  readonly streamUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The forms of the wire to offer, the preferred one first. */
  readonly subprotocols: readonly Subprotocol[];
  readonly host: HostDescription;
  readonly name: string;
  readonly description: string | undefined;
  readonly timeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly maxInFlight: number | undefined;
  readonly frameBytesMax: number;
  readonly unsentBytesMax: number;
  readonly announces: boolean;
  readonly reconnects: boolean;
  readonly log: (level: LogLevel, message: string) => void;
}

export function resolveSettings(
  url: string,
  options: InternalOptions,
  platform: Platform,
  dialOptions: Pick<Settings, 'headers' | 'subprotocols'>,
): Settings {
  const host = platform.describeHost();
  const { log } = options;
  return {
    url: checkUrl(url),
    streamUrl: options.stream_url === undefined ? undefined : checkUrl(options.stream_url),
    ...dialOptions,
    host,
    name: options.worker_name ?? options.workerName ?? host.name,
    description: options.description,
    timeoutMs: checkTimeout('timeout_ms', options.timeout_ms ?? options.timeoutMs ?? CALL_TIMEOUT_MS_DEFAULT),
    drainTimeoutMs: checkWhole(
      'drain_timeout_ms',
      options.drain_timeout_ms ?? DRAIN_TIMEOUT_MS,
      0,
      CALL_TIMEOUT_MS_MAX,
    ),
    maxInFlight:
      options.max_in_flight === undefined
        ? undefined
        : checkWhole('max_in_flight', options.max_in_flight, 1, IN_FLIGHT_CEILING),
    frameBytesMax: checkWhole(
      'frame_bytes_max',
      options.frame_bytes_max ?? FRAME_BYTES_MAX,
      1_024,
      FRAME_BYTES_CEILING,
    ),
    unsentBytesMax: checkWhole(
      'unsent_bytes_max',
      options.unsent_bytes_max ?? UNSENT_BYTES_MAX,
      1_024,
      UNSENT_BYTES_CEILING,
    ),
    announces: options.announce ?? true,
    reconnects: options.reconnect ?? true,
    log: (level, message) => writeSafely(log, platform, level, message),
  };
}

export function checkTimeout(name: string, timeoutMs: number): number {
  return checkWhole(name, timeoutMs, 1, CALL_TIMEOUT_MS_MAX);
}

/** Invalid ids are refused here: the engine would only log that it dropped the frame. */
export function checkId(what: string, id: unknown): string {
  if (typeof id === 'string' && id.trim() !== '' && utf8Length(id) <= ID_BYTES_MAX && !CONTROL.test(id)) return id;
  const expected = `expected text of 1 to ${ID_BYTES_MAX} bytes without control characters`;
  throw new SvcError('INVALID_ARGUMENTS', `${what}: ${JSON.stringify(id)}, ${expected}`);
}

/** The default of the engine; a listener with a lower limit closes the connection instead. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024;
/** The longest text that a JavaScript engine holds in one piece, with room for the envelope. */
const FRAME_BYTES_CEILING = 256 * 1024 * 1024;
/** The total number of calls in flight of one engine. */
const IN_FLIGHT_CEILING = 65_536;
const UNSENT_BYTES_MAX = 64 * 1024 * 1024;
const UNSENT_BYTES_CEILING = 4 * 1024 * 1024 * 1024;
const DRAIN_TIMEOUT_MS = 25_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

function checkWhole(name: string, value: number, min: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw new SvcError('INVALID_ARGUMENTS', `${name}: ${value}, expected a whole number from ${min} to ${max}`);
}

export function checkUrl(url: string): string {
  const { protocol, hash } = URL.canParse(url) ? new URL(url) : { protocol: '', hash: '' };
  if ((protocol === 'ws:' || protocol === 'wss:') && hash === '') return url;
  throw new SvcError('INVALID_ARGUMENTS', `engine address: ${JSON.stringify(url)}, expected ws://… or wss://…`);
}

/** The SDK logs in the middle of its work, and a log function that throws must not stop it. */
function writeSafely(log: WorkerOptions['log'], platform: Platform, level: LogLevel, message: string): void {
  try {
    if (log === undefined) platform.writeLog(level, message);
    else log(level, message);
  } catch (error) {
    platform.writeLog('error', `the log function threw ${String(error)}: ${message}`);
  }
}
