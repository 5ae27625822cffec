// An open port on uWebSockets.js. With TLS it can be opened again with another certificate.
//
// Traps of the library: two servers may silently share one port (the engine asks for exclusive use). An app keeps the
// certificate that it was created with, except for clients that name the server, which a client that connects by
// address does not do. So another certificate needs another app, which takes the port over; connections stay with the
// app that accepted them. The library keeps every app, about 33 KiB each, until the process ends. A port that it was
// given as 0 cannot be taken over while a connection is open, so with TLS the number is chosen beforehand.

import { readFileSync } from 'node:fs';
import { bareHost } from '../../core/access/origin.ts';
import type { Clock } from '../../effects/clock.ts';
import { TlsError, type TlsOptions } from '../tls.ts';
import { ListenError, type Listener } from '../transport.ts';
import type { Uws, UwsApp } from './uws-library.ts';

export interface UwsPort {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  /** Adds all routes. Called for every app of the port. */
  route(app: UwsApp): void;
  /** The port accepts no more connections. */
  stopped?(): void;
}

/** Rejects with a `ListenError` or a `TlsError`. */
export async function openOnUws(uws: Uws, clock: Clock, port: UwsPort): Promise<Listener> {
  const listener = new UwsListener(uws, clock, port);
  listener.open();
  return listener;
}

const RETRY_MS = 100;

class UwsListener implements Listener {
  readonly host: string;
  #port: number;
  readonly #uws: Uws;
  readonly #clock: Clock;
  readonly #options: UwsPort;
  readonly #apps: UwsApp[] = [];
  #token: unknown;
  #isAccepting = true;
  #cancelRetry = (): void => {};

  constructor(uws: Uws, clock: Clock, options: UwsPort) {
    this.#uws = uws;
    this.#clock = clock;
    this.#options = options;
    this.host = options.host;
    this.#port = options.port;
  }

  get port(): number {
    return this.#port;
  }

  /** Throws if the port cannot be opened. */
  open(): void {
    const { tls, host, port } = this.#options;
    const app = this.#createApp(tls);
    if (tls !== undefined && port === 0) this.#port = this.#choosePort();
    const token = this.#listen(app);
    if (!token) throw new ListenError(host, port);
    this.#token = token;
    this.#port = this.#uws.us_socket_local_port(token);
    this.#apps.push(app);
  }

  prepareTls(tls: TlsOptions): () => void {
    const app = this.#createApp(tls);
    return () => {
      if (!this.#isAccepting) return;
      this.#closeToken();
      this.#apps.push(app);
      this.#takePort(app);
    };
  }

  stopAccepting(): void {
    if (!this.#isAccepting) return;
    this.#isAccepting = false;
    this.#closeToken();
    this.#options.stopped?.();
  }

  close(): void {
    this.stopAccepting();
    for (const app of this.#apps) app.close();
  }

  /** Only another process can hold the port, which the engine gave up a moment ago. */
  #takePort(app: UwsApp): void {
    this.#token = this.#listen(app);
    if (!this.#token) this.#cancelRetry = this.#clock.after(RETRY_MS, () => this.#takePort(app));
  }

  #closeToken(): void {
    this.#cancelRetry();
    if (this.#token) this.#uws.us_listen_socket_close(this.#token);
    this.#token = undefined;
  }

  #listen(app: UwsApp): unknown {
    let token: unknown;
    // The library calls back before it returns.
    app.listen(bareHost(this.host), this.#port, this.#uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (given) => {
      token = given;
    });
    return token;
  }

  #choosePort(): number {
    const app = this.#uws.App();
    const token = this.#listen(app);
    if (!token) return 0;
    const port = this.#uws.us_socket_local_port(token);
    app.close();
    return port;
  }

  #createApp(tls: TlsOptions | undefined): UwsApp {
    const app = tls === undefined ? this.#uws.App() : createTlsApp(this.#uws, tls);
    this.#options.route(app);
    return app;
  }
}

/** The library reads the files itself, so they must still be what was checked. */
function createTlsApp(uws: Uws, tls: TlsOptions): UwsApp {
  const offence = tlsOffenceOnUws(tls);
  if (offence !== undefined) throw new TlsError(offence);
  const { certFile, keyFile, chain, key } = tls.certificate;
  let app: UwsApp;
  try {
    app = uws.SSLApp({ cert_file_name: certFile, key_file_name: keyFile });
  } catch {
    throw new TlsError(`uWebSockets.js cannot use the certificate in '${certFile}' or its key. ${TO_CHANGE}`);
  }
  if (readFileSync(certFile, 'utf8') === chain && readFileSync(keyFile, 'utf8') === key) return app;
  throw new TlsError(`'${certFile}' or '${keyFile}' changed while it was read`);
}

const TO_CHANGE = 'The transport ws can: set SVC_TRANSPORT=ws';

/** What the library cannot keep. */
export function tlsOffenceOnUws({ minVersion, clients }: TlsOptions): string | undefined {
  if (minVersion !== 'TLSv1.2') {
    return `min_version ${minVersion}: uWebSockets.js always accepts TLSv1.2 as well. ${TO_CHANGE}`;
  }
  if (clients !== undefined) return `client_certificates: uWebSockets.js cannot report them. ${TO_CHANGE}`;
  return undefined;
}
