import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { registerWorker } from 'svc-sdk';
import { startEngine } from 'svc-sdk/testing';
import { register } from '../functions.js';

// A real engine of this test's own, in memory and on free ports.
const engine = await startEngine();
const svc = registerWorker(engine.url, { handle_signals: false });
register(svc);
await svc.ready();
after(async () => {
  await svc.shutdown();
  await engine.stop();
});

test('greets the caller by name', async () => {
  const answer = await svc.trigger({ function_id: '__name__::hello', payload: { name: 'Ada' } });
  assert.deepEqual(answer, { text: 'Hello, Ada!' });
});
