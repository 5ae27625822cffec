// Where the engine is, and how to connect to its ports: each of them may have TLS.

import { Agent, type ClientRequest, type RequestOptions, request } from 'node:http';
import { request as requestSecurely, Agent as SecureAgent } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { bareHost, hostInUrl } from '../../core/access/origin.ts';
import { isSvcError } from '../../sdk/calls/errors.ts';
import { connectionOptions } from '../../sdk/internal.ts';
import { type ConsoleOptions, ConsoleStartError, type EnginePort } from './options.ts';

const SOCKETS_MAX = 256;
/** The engine ends idle connections after about 10 s, and one that ends must not get another request. */
const IDLE_MS_MAX = 5_000;
const NO_PORTS: ReadonlySet<EnginePort> = new Set();

export class EngineAddress {
  /** `http://127.0.0.1:3111`. */
  readonly http: string;
  readonly streams: string;
  readonly workers: string;
  /** Host and port of `http`. */
  readonly httpHost: string;
  readonly #options: ConsoleOptions;
  readonly #ports: ReadonlySet<EnginePort>;
  #trust: ConnectionOptions;
  readonly #agent: Agent;

  constructor(options: ConsoleOptions) {
    const { engineHost, enginePort, streamPort, bridgePort, engineTls = NO_PORTS } = options;
    const host = hostInUrl(engineHost);
    const scheme = (name: string, port: EnginePort) => `${name}${engineTls.has(port) ? 's' : ''}`;
    this.#options = options;
    this.httpHost = `${host}:${enginePort}`;
    this.http = `${scheme('http', 'http')}://${this.httpHost}`;
    this.streams = `${scheme('ws', 'streams')}://${host}:${streamPort}`;
    this.workers = `${scheme('ws', 'workers')}://${host}:${bridgePort}`;
    this.#ports = engineTls;
    this.#trust = engineTls.size === 0 ? {} : readTrust(options);
    const settings = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: IDLE_MS_MAX };
    this.#agent = this.#ports.has('http') ? new SecureAgent(settings) : new Agent(settings);
  }

  /** `http` in the form for WebSockets. */
  get httpSocket(): string {
    return this.http.replace(/^http/, 'ws');
  }

  /** A request to the HTTP port. `isKept`: on a connection that others may use, too. */
  request(asked: RequestOptions, isKept: boolean): ClientRequest {
    const { engineHost, enginePort } = this.#options;
    const options = { ...asked, host: bareHost(engineHost), port: enginePort, agent: isKept && this.#agent };
    return this.#ports.has('http') ? requestSecurely({ ...options, ...this.#secured() }) : request(options);
  }

  /** The options of TLS for a WebSocket to that port. */
  secured(port: EnginePort): ConnectionOptions {
    return this.#ports.has(port) ? this.#secured() : {};
  }

  stop(): void {
    this.#agent.destroy();
  }

  /** The files may have been replaced. If they cannot be read, those of the last connection apply. */
  #secured(): ConnectionOptions {
    try {
      this.#trust = readTrust(this.#options);
    } catch (error) {
      if (!(error instanceof ConsoleStartError)) throw error;
    }
    return this.#trust;
  }
}

/** Throws a `ConsoleStartError`. */
function readTrust({ trust = {} }: ConsoleOptions): ConnectionOptions {
  try {
    return connectionOptions(trust);
  } catch (error) {
    throw isSvcError(error) ? new ConsoleStartError(`${error.message}.`) : error;
  }
}
