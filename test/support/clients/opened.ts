import { once } from 'node:events';
import type { WebSocket } from 'ws';

/** Resolves once the connection is open. An error of the socket has no stack, so this names what it happened to. */
export async function opened(socket: WebSocket): Promise<void> {
  try {
    await once(socket, 'open');
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`opening ${socket.url} (${socket.protocol || 'JSON'}): ${message}`, { cause: error });
  }
}
