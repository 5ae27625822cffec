// Pages that read nothing keep bytes in the engine. They have half of what may wait for all connections: beyond it they
// are closed, so that no trusted connection is closed in their place, and no fire-and-forget call is shed for them.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

const PAGES = 20;
const TEXT = 'x'.repeat(900_000);

test('Twenty pages that read nothing leave half of the unread bytes to trusted connections', async () => {
  const clock = new TurningClock();
  await using engine = await startEngine(clock);
  const [trustedUrl, pageUrl] = [engine.url, String(engine.urls[1])];
  await using worker = await RawWorker.connect(trustedUrl);
  await using caller = await RawWorker.connect(trustedUrl);
  let ran = 0;
  await worker.serve('orders::note', () => ran++);
  const pages = await Promise.all(Array.from({ length: PAGES }, () => RawWorker.connect(pageUrl)));
  const feeders = await Promise.all(Array.from({ length: PAGES }, () => RawWorker.connect(pageUrl)));
  for (const [number, page] of pages.entries()) {
    await page.register(`api::page-${number}`);
    page.socket.pause();
  }
  // What the system takes of each page, and then about 4 MiB that the engine keeps.
  for (let round = 0; round < 8; round++) {
    for (const [number, feeder] of feeders.entries()) {
      feeder.send({ type: 'invokefunction', function_id: `api::page-${number}`, data: TEXT, action: { type: 'void' } });
    }
    await Promise.all(feeders.map((feeder) => feeder.settled()));
  }
  clock.advance(1_000);
  expect(engine.counters.get('connections.closed', 'too_slow')).toBeGreaterThan(0);
  for (let call = 0; call < 100; call++) {
    caller.send({ type: 'invokefunction', function_id: 'orders::note', data: call, action: { type: 'void' } });
  }
  await caller.settled();
  await waitFor('no call was shed', () => ran === 100);
  expect(engine.log.filter((line) => line.includes('level=shed'))).toEqual([]);
  for (const one of [...pages, ...feeders]) one.socket.terminate();
}, 120_000);

function startEngine(clock: TurningClock): Promise<TestEngine> {
  return startTestEngine({
    clock,
    yaml: `drain_timeout_ms: 100
limits: {engine: {outbound_buffers_bytes: 33554432}}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: ['match("api::*")']}}}
`,
  });
}
