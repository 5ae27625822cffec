// An open port on uWebSockets.js. With TLS it can go over to another certificate.
//
// Traps of the library: two servers may silently share one port (the engine asks for exclusive use). An app keeps the
// certificate that it was created with, except for clients that name the server, which a client that connects by
// address does not do. So with TLS one app only accepts connections, and gives each to the app that has the certificate
// of the moment, before its handshake. Connections stay with the app that they were given to. The library keeps every
// app, about 33 KiB each, until the process ends.

import { readFileSync } from 'node:fs';
import { bareHost } from '../../core/access/origin.ts';
import { whilePortIsLocked } from '../port-lock.ts';
import { TlsError, type TlsOptions } from '../tls.ts';
import { ListenError, type Listener, type PortSharing } from '../transport.ts';
import type { Uws, UwsApp } from './uws-library.ts';

export interface UwsPort {
  readonly host: string;
  readonly port: number;
  readonly sharing: PortSharing | undefined;
  readonly tls: TlsOptions | undefined;
  /** Adds all routes. Called for every app that gets connections. */
  route(app: UwsApp): void;
  /** The port accepts no more connections. */
  stopped?(): void;
}

/** Rejects with a `ListenError` or a `TlsError`. */
export async function openOnUws(uws: Uws, port: UwsPort): Promise<Listener> {
  const { host, sharing } = port;
  return sharing === 'first' ? await whilePortIsLocked(host, port.port, () => open(uws, port)) : open(uws, port);
}

function open(uws: Uws, port: UwsPort): Listener {
  const { tls } = port;
  const app = tls === undefined ? uws.App() : createTlsApp(uws, tls);
  port.route(app);
  if (tls === undefined) return new UwsListener(uws, port, app);
  const acceptor = createTlsApp(uws, tls);
  acceptor.addChildAppDescriptor(app.getDescriptor());
  return new UwsListener(uws, port, acceptor, app);
}

class UwsListener implements Listener {
  readonly host: string;
  readonly port: number;
  readonly #uws: Uws;
  readonly #options: UwsPort;
  readonly #acceptor: UwsApp;
  /** With TLS: the apps that have connections. The last one gets the new ones. */
  readonly #apps: UwsApp[];
  readonly #token: unknown;
  #isAccepting = true;

  /** Throws if the port cannot be opened. */
  constructor(uws: Uws, options: UwsPort, acceptor: UwsApp, ...apps: UwsApp[]) {
    const { host, sharing } = options;
    const listen = (port: number, mode: number): unknown => {
      let token: unknown;
      // The library calls back before it returns.
      acceptor.listen(bareHost(host), port, mode, (given) => {
        token = given;
      });
      if (!token) throw new ListenError(host, port);
      return token;
    };
    let { port } = options;
    if (sharing === 'first') {
      const alone = listen(port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT);
      port = uws.us_socket_local_port(alone);
      uws.us_listen_socket_close(alone);
    }
    const token = listen(port, sharing === undefined ? uws.LIBUS_LISTEN_EXCLUSIVE_PORT : SHARED);
    this.#uws = uws;
    this.#options = options;
    this.#acceptor = acceptor;
    this.#apps = apps;
    this.#token = token;
    this.host = host;
    this.port = uws.us_socket_local_port(token);
  }

  prepareTls(tls: TlsOptions): () => void {
    const app = createTlsApp(this.#uws, tls);
    this.#options.route(app);
    return () => {
      const before = this.#apps.at(-1);
      this.#acceptor.addChildAppDescriptor(app.getDescriptor());
      if (before !== undefined) this.#acceptor.removeChildAppDescriptor(before.getDescriptor());
      this.#apps.push(app);
    };
  }

  stopAccepting(): void {
    if (!this.#isAccepting) return;
    this.#isAccepting = false;
    this.#uws.us_listen_socket_close(this.#token);
    this.#options.stopped?.();
  }

  close(): void {
    this.stopAccepting();
    for (const app of [this.#acceptor, ...this.#apps]) app.close();
  }
}

/** The library's default. */
const SHARED = 0;

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
