// Opens a port for a server of `node:http`.

import type { Server } from 'node:http';
import { bareHost } from '../../core/access/origin.ts';
import { ListenError } from '../socket.ts';

/** Returns the port, which the system chooses for 0. Rejects when the port cannot be opened. */
export async function listenOnNode(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => reject(new ListenError(host, port)));
    server.listen({ host: bareHost(host), port, exclusive: true }, resolve);
  });
  // Without free file descriptors a new connection cannot be accepted: its client sees an error, and the open
  // connections go on.
  server.on('error', () => {});
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
