// Thousands of connections from many addresses. Each requests an upgrade, reads the first line of the answer, and
// closes. Arguments: how many, the port of workers, and the port of streams. It prints the number of each status.

import { connect } from 'node:net';

const AT_ONCE = 400;
const ADDRESSES = 250;

const [count = 0, ...ports] = process.argv.slice(2).map(Number);
const statuses = new Map<string, number>();
let next = 0;
await Promise.all(Array.from({ length: AT_ONCE }, rage));
process.stdout.write(JSON.stringify([...statuses]));

async function rage(): Promise<void> {
  while (next < count) {
    const number = next++;
    const status = await dial(ports[number % ports.length] ?? 0, `127.0.1.${1 + (number % ADDRESSES)}`, number);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
}

function dial(port: number, localAddress: string, number: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    let answer = 'nothing';
    // The streams' port wants to know which group; the workers' port takes any path.
    const path = number % 2 === 0 ? '/' : '/stream/chat/room/';
    socket.on('connect', () => socket.write(upgrade(path, port)));
    socket.on('data', (bytes) => {
      answer = bytes.toString('latin1').split(' ')[1] ?? 'nothing';
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      answer = error.code ?? 'error';
    });
    socket.on('close', () => resolve(answer));
  });
}

function upgrade(path: string, port: number): string {
  return [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '\r\n',
  ].join('\r\n');
}
