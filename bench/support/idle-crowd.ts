// Many workers that connect, announce themselves, register one function each, and stay idle.

import { once } from 'node:events';
import { WebSocket } from 'ws';

const [, , url = '', count = '0'] = process.argv;
for (let index = 0; index < Number(count); index += 200) {
  await Promise.all(Array.from({ length: 200 }, (_, offset) => connect(index + offset)));
  // The port accepts 500 new connections a second.
  await new Promise((resolve) => setTimeout(resolve, 600));
}
process.send?.('standing');

async function connect(index: number): Promise<void> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'registerfunction', id: `idle::f${index}` }));
}
