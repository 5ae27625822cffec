// Fault 28: subscribers of the SDK are cut at random while a writer never stops.

import { test } from 'vitest';
import { registerWorker } from '../../../src/sdk/index.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { FAULT_ROUNDS, faultRandom } from '../../support/load/fault-tools.ts';
import { checkStories } from '../../support/load/stories.ts';
import { startStreamEngine } from '../../support/stores/stream-engine.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const SUBSCRIBERS = IS_LONG ? 200 : 16;
/** For the short form. The long one writes for as long as the catalogue says, at a hundred rounds. */
const EVENTS = 1_500;
const LONG_MS = IS_LONG ? FAULT_ROUNDS * 6_000 : 0;
const PROXIES = 4;

test('[T2] [T4] [fault 28] every sequence is complete or its gap is reported, and nothing comes twice', {
  timeout: 120_000 + EVENTS * 40 + LONG_MS * 2,
}, async () => {
  const line = faultLine('28', 'recovery', 'offences=0');
  // A short history, so that some reconnect too late for it.
  await using engine = await startStreamEngine('', 'limits: {stream: {history_events: 120}}');
  const random = faultRandom('28');
  const port = Number(new URL(engine.streams).port);
  const proxies = await Promise.all(Array.from({ length: PROXIES }, () => CutProxy.start(port)));
  const svc = registerWorker(engine.url, { handle_signals: false, log: () => {} });
  line.figure = await checkStories({
    ...{ proxies, workers: [svc], subscribers: SUBSCRIBERS, events: EVENTS, lastsMs: LONG_MS },
    ...{ eventsPerCut: 150, random },
  });
  await svc.shutdown();
  await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
});
