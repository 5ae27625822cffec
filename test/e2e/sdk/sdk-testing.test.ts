// [SDK-11] `svc-sdk/testing`: a real engine for one test.

import { expect, test } from 'vitest';
import { http, registerWorker } from '../../../src/sdk/index.ts';
import { startEngine } from '../../../src/sdk/testing.ts';
import { waitFor } from '../../support/wait-for.ts';
import { SVC } from '../cli/cli-process.ts';

test('[SDK-11] the engine has state, HTTP, streams and queues, and is gone with the test', {
  timeout: 60_000,
}, async () => {
  const engine = await startEngine({ program: SVC, queues: { mail: { max_retries: 1, backoff_ms: 10 } } });
  const svc = registerWorker(engine.url, { stream_url: engine.stream_url, handle_signals: false, drain_timeout_ms: 0 });
  let attempts = 0;
  svc.registerFunction('mail::send', () => {
    attempts += 1;
    if (attempts === 1) throw new Error('not yet');
  });
  svc.registerFunction('page', () => ({ body: { it: 'works' } }));
  svc.registerTrigger({ ...http('GET', '/page'), function_id: 'page' });
  await svc.state.set('carts', 'ann', { items: 1 });
  expect(await svc.state.get('carts', 'ann')).toEqual({ items: 1 });
  expect(await (await fetch(`${engine.http_url}/page`)).json()).toEqual({ it: 'works' });
  const room = svc.stream('chat').group('room');
  await room.set('m1', 'hello');
  const seen = await new Promise((resolve) => {
    room.subscribe({ onSync: (items) => resolve([...items]) });
  });
  expect(seen).toEqual([['m1', 'hello']]);
  await svc.queue('mail').enqueue('mail::send', {});
  await waitFor('the job is tried again', () => attempts === 2, 10_000);
  await svc.shutdown();
  await engine.stop();
  await expect(fetch(`${engine.http_url}/page`)).rejects.toThrow();
});

test('[SDK-11] an engine that cannot start gives the reason', { timeout: 60_000 }, async () => {
  await expect(startEngine({ program: SVC, config: 'workers: [{name: svc-sate}]' })).rejects.toThrow(
    "Did you mean 'svc-state'",
  );
});

test('[SDK-11] names the package to install if there is no engine', async () => {
  // The package of this repository is not installed in itself.
  const failure = await startEngine().then(
    () => undefined,
    (error: Error) => error.message,
  );
  expect(failure).toBe(`The package 'svc' is not installed at or above ${process.cwd()}: npm install --save-dev svc`);
});
