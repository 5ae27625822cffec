// For programs that need to know their port before they start, or that open it again after a restart.
//
// The numbers are outside the range from which the system takes ports for "any port" and for outgoing connections, so
// no other program gets one by chance. A UDP socket of the same number reserves it among the test processes; the
// system closes that socket when this process ends.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const FIRST = 20_000;
const LAST = 31_999;
const TRIES = 100;

/** A port of 127.0.0.1 that is free, and that no other test gets while this process runs. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    if ((await isReserved(port)) && (await isFree(port))) return port;
  }
  throw new Error(`None of ${TRIES} ports between ${FIRST} and ${LAST} was free`);
}

async function isReserved(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  socket.bind(port, '127.0.0.1');
  try {
    await once(socket, 'listening');
  } catch {
    return false;
  }
  socket.unref();
  return true;
}

/** Whether no program listens there, and no connection of this machine has it. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
