// A worker as a separate process, for tests that kill or stop it. Arguments: address, function id, and `answers` or
// `hangs`. It prints `ready`, `called` at its first call, and `closed <code>`.

import { WebSocket } from 'ws';

const [url = '', functionId = '', manner = ''] = process.argv.slice(2);
const socket = new WebSocket(url);
let calls = 0;

socket.on('open', () => {
  socket.send(JSON.stringify({ type: 'registerfunction', id: functionId }));
  socket.send(JSON.stringify({ type: 'ping' }));
});

socket.on('message', (text) => {
  const { type, invocation_id, function_id } = JSON.parse(String(text));
  if (type === 'pong') say('ready');
  if (type !== 'invokefunction') return;
  if (++calls === 1) say('called');
  if (manner === 'answers') {
    socket.send(JSON.stringify({ type: 'invocationresult', invocation_id, function_id, result: calls }));
  }
});

socket.on('close', (code) => say(`closed ${code}`));
// The close that follows says what there is to say.
socket.on('error', () => {});

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
