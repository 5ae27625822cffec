// A port that several routers share is opened in two steps: by one listener alone, which fails if any other process has
// the port, then by listeners that share it. Two engines that start at once could both pass the first step before
// either takes the second, and the system would give each a part of the connections. This lock, an abstract Unix socket
// of Linux, lets one engine at a time take both steps. It disappears with its process.

import { createServer, type Server } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { ListenError } from './transport.ts';

const RETRY_MS = 10;
/** The steps take a millisecond. */
const WAIT_MS_MAX = 3_000;

/** Runs `open` while no other engine of this machine opens that port. Rejects with a `ListenError`. */
export async function whilePortIsLocked<T>(host: string, port: number, open: () => T | Promise<T>): Promise<T> {
  const lock = await lockPort(host, port);
  try {
    return await open();
  } finally {
    lock.close();
  }
}

async function lockPort(host: string, port: number): Promise<Server> {
  for (let waitedMs = 0; waitedMs < WAIT_MS_MAX; waitedMs += RETRY_MS) {
    const lock = await listenOn(`\0svc-port-${port}`);
    if (lock !== undefined) return lock;
    await wait(RETRY_MS);
  }
  throw new ListenError(host, port);
}

/** `undefined`: another process listens there. */
function listenOn(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => {
      if ('code' in error && error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen({ path }, () => resolve(server));
  });
}
