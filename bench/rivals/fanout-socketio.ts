// The fan-out on Socket.IO over WebSocket only: a publisher emits to a room.

import { createServer } from 'node:http';
import { Server } from 'socket.io';
import { answerReady } from '../support/part.ts';

const http = createServer();
const io = new Server(http, { transports: ['websocket'], perMessageDeflate: false });
io.on('connection', (socket) => {
  socket.join('g');
  socket.on('publish', (data: unknown) => io.to('g').emit('e', data));
});
http.listen(0, '127.0.0.1', () => {
  const address = http.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket`;
  answerReady(async () => ({ url, publishUrl: url, pid: process.pid }));
});
