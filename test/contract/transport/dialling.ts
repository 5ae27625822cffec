// How the clients of contract tests connect: over TCP, or over TLS in the files that run the same contract with it.

import { once } from 'node:events';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectSecurely, TLSSocket } from 'node:tls';
import { readCertificate } from '../../../src/effects/certificates.ts';
import { connectionOptions } from '../../../src/sdk/internal.ts';
import type { TlsOptions } from '../../../src/transport/tls.ts';
import { TestAuthority, type TestCertificate } from '../../support/certificates.ts';

let authority: TestAuthority | undefined;
let tls: TlsOptions | undefined;
/** TCP below TLS. */
const sockets = new WeakMap<Socket, Socket>();

/** From here on all ports and clients of this file use TLS. Returns the end of it. */
export function speakTls(): () => void {
  const made = new TestAuthority();
  authority = made;
  tls = tlsWith(made.issue());
  return () => made[Symbol.dispose]();
}

/** For the ports under test. */
export function contractTls(): TlsOptions | undefined {
  return tls;
}

export function tlsWith(files: TestCertificate): TlsOptions {
  return { certificate: readCertificate(files, Date.now()), minVersion: 'TLSv1.2', clients: undefined };
}

export function dial({ host = '127.0.0.1', ...options }: TcpNetConnectOpts): Socket {
  if (authority === undefined) return connect({ host, ...options });
  const tcp = connect({ host, ...options });
  const secure = connectSecurely({ socket: tcp, host, ...connectionOptions({ ca_file: authority.caFile }) });
  sockets.set(secure, tcp);
  return secure;
}

/** Ends TCP with a reset. */
export function reset(socket: Socket): void {
  const tcp = sockets.get(socket);
  if (tcp === undefined) socket.resetAndDestroy();
  else tcp.resetAndDestroy();
}

/** Rejects when the connection or its handshake fails. */
export async function connected(socket: Socket): Promise<void> {
  await once(socket, socket instanceof TLSSocket ? 'secureConnect' : 'connect');
}
