// One engine per store directory (R4). The lock is a socket in the abstract name space of the system, so it ends with
// the process that holds it, in any way, and leaves nothing on the disk (R6). It works between processes that share a
// network name space, which containers do only if they are configured to.

import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { createServer } from 'node:net';

export interface DirectoryLock {
  release(): void;
}

/** Rejects with `StoreInUse` if another process holds it. */
export async function lockDirectory(folder: string): Promise<DirectoryLock> {
  const server = createServer((socket) => socket.destroy());
  const name = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new StoreInUse(folder) : error),
    );
    server.listen({ path: `\0svc-store-${name}` }, resolve);
  });
  server.unref();
  return { release: () => server.close() };
}

export class StoreInUse extends Error {
  constructor(folder: string) {
    super(`The store in ${folder} is in use: another engine runs on it. Stop that one, or name another file_path`);
    this.name = 'StoreInUse';
  }
}
