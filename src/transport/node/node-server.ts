// A server of `node:http`, with TLS or without.

import { randomBytes, type X509Certificate } from 'node:crypto';
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  createSecureContext,
  TLSSocket,
  type Server as TlsServer,
  type TlsOptions as TlsServerOptions,
} from 'node:tls';
import { namesOf } from '../../effects/certificates.ts';
import { type ClientCertificate, TlsError, type TlsOptions } from '../tls.ts';

/** Throws a `TlsError`. `handshakeMsMax`: for TLS, before the time for a request begins. */
export function createNodeServer(options: ServerOptions, tls: TlsOptions | undefined, handshakeMsMax: number): Server {
  if (tls === undefined) return createServer(options);
  const { clients } = tls;
  const server = createSecureServer({
    ...options,
    ...contextOf(tls),
    handshakeTimeout: handshakeMsMax,
    requestCert: clients !== undefined,
    rejectUnauthorized: clients?.isRequired === true,
  });
  server.on('secureConnection', (stream) => {
    const certificate = clients === undefined ? undefined : stream.getPeerX509Certificate();
    SECURED.set(stream, certificate);
    // A client may have no certificate where none is required, but not one of another authority.
    if (certificate !== undefined && !stream.authorized) stream.destroy();
  });
  return server;
}

/**
 * The streams that have completed their handshake, with the client's certificate. Read once: of a stream that was
 * destroyed, the library crashes the process instead of answering.
 */
const SECURED = new WeakMap<object, X509Certificate | undefined>();

/** Calls back with every connection that requests can come from: with TLS, after its handshake. */
export function onConnection(server: Server, tls: TlsOptions | undefined, take: (stream: Socket) => void): void {
  server.on(tls === undefined ? 'connection' : 'secureConnection', take);
}

/** A client that did not complete its handshake cannot be answered. */
export function isHandshaking(stream: Duplex): boolean {
  return stream instanceof TLSSocket && !SECURED.has(stream);
}

export function certificateOf(stream: Duplex): ClientCertificate | undefined {
  const certificate = SECURED.get(stream);
  return (
    certificate && {
      subject: oneLine(certificate.subject),
      issuer: oneLine(certificate.issuer),
      fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      serial_number: certificate.serialNumber,
      names: namesOf(certificate),
    }
  );
}

/** The library has one part of a name per line. */
function oneLine(name: string): string {
  return name.split('\n').join(', ');
}

/** Checks the options and returns what puts them into effect for new connections. Throws a `TlsError`. */
export function prepareTlsOnNode(server: Server, tls: TlsOptions): () => void {
  const context = contextOf(tls);
  return () => {
    if (!isTlsServer(server)) throw new Error('The port was opened without TLS');
    server.setSecureContext(context);
    // Sessions that another authority vouched for must not be resumed.
    server.setTicketKeys(randomBytes(TICKET_KEYS_BYTES));
  };
}

const TICKET_KEYS_BYTES = 48;

function isTlsServer(server: object): server is TlsServer {
  return 'setSecureContext' in server;
}

function contextOf({ certificate, minVersion, clients }: TlsOptions): TlsServerOptions {
  const context = {
    cert: certificate.chain,
    key: certificate.key,
    minVersion,
    ...(clients !== undefined && { ca: clients.authorities }),
  };
  try {
    createSecureContext(context);
    return context;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TlsError(`The certificate in '${certificate.certFile}' or its key cannot be used: ${reason}`);
  }
}
