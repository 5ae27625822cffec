import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { registerWorker } from 'svc-sdk';
import { startEngine } from 'svc-sdk/testing';
import { type Message, register } from '../workers/chat/functions.ts';

// A real engine of this test's own, in memory and on free ports.
const engine = await startEngine();
const svc = registerWorker(engine.url, { handle_signals: false, stream_url: engine.stream_url });
register(svc);
await svc.ready();
after(async () => {
  await svc.shutdown();
  await engine.stop();
});

test('every page that watches the room receives a message', async () => {
  const seen = new Promise((resolve) => {
    const room = svc.stream('chat').group<Message>('lobby');
    // The message may arrive before or after the watch starts.
    const show = ({ from, text }: Message) => resolve({ from, text });
    room.subscribe({ onSync: (items) => [...items.values()].forEach(show), onChange: ({ data }) => show(data) });
  });
  await svc.trigger({ function_id: 'chat::send', payload: { room: 'lobby', from: 'Ada', text: 'hello' } });
  assert.deepEqual(await seen, { from: 'Ada', text: 'hello' });
});

test('refuses an empty message', async () => {
  const empty = svc.trigger({ function_id: 'chat::send', payload: { room: 'lobby', from: 'Ada', text: '' } });
  await assert.rejects(empty, /1 to 500 characters/);
});

test('serves the page and the SDK that it loads', async () => {
  const page = await (await fetch(engine.http_url)).text();
  assert.match(page, /<h1>Chat<\/h1>/);
  assert.equal((await fetch(`${engine.http_url}/sdk/index.js`)).status, 200);
  assert.equal((await fetch(`${engine.http_url}/sdk/..%2fpackage.json`)).status, 404);
});
