// Takes a port for a server of `node:http`.

import type { Server } from 'node:http';
import { bareHost } from '../core/origin.ts';
import { ListenError } from './socket.ts';

/** Returns the port, which the system chooses where 0 was asked for. Rejects when it cannot be had. */
export async function listenOnNode(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => reject(new ListenError(host, port)));
    server.listen({ host: bareHost(host), port, exclusive: true }, resolve);
  });
  // Out of files, a new connection cannot be accepted: its peer sees that, and the open ones go on.
  server.on('error', () => {});
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
