import { readFile } from 'node:fs/promises';

const LISTENS = '0A';
const ESTABLISHED = '01';

/** How many sockets listen on a port of IPv4. */
export async function listenersOn(port: number): Promise<number> {
  return (await socketsOn(port)).filter(({ state }) => state === LISTENS).length;
}

/** The ports of the clients whose connections to a port of IPv4 have not been closed there. */
export async function clientsOf(port: number): Promise<ReadonlySet<number>> {
  const open = (await socketsOn(port)).filter(({ state }) => state === ESTABLISHED);
  return new Set(open.map(({ clientPort }) => clientPort));
}

/** The system shows one line for each. */
async function socketsOn(port: number): Promise<{ readonly clientPort: number; readonly state: string | undefined }[]> {
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  return lines
    .filter(([, local]) => portOf(local) === port)
    .map(([, , remote, state]) => ({ clientPort: portOf(remote), state }));
}

function portOf(address = ''): number {
  return Number.parseInt(address.split(':')[1] ?? '', 16);
}
