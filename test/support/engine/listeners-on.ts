import { readFile } from 'node:fs/promises';

const LISTENS = '0A';

/** How many sockets listen on a port of IPv4: the system shows one line for each. */
export async function listenersOn(port: number): Promise<number> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  return lines.filter(([, address, , state]) => address?.endsWith(`:${hex}`) && state === LISTENS).length;
}
