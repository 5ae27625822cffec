// Fault 28: subscribers of the SDK are cut at random while a writer never stops.

import { expect, test } from 'vitest';
import { registerWorker } from '../../src/sdk/index.ts';
import { CutProxy } from '../support/cut-proxy.ts';
import { FAULT_ROUNDS } from '../support/fault-tools.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startStreamEngine } from '../support/stream-engine.ts';
import { waitFor } from '../support/wait-for.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const SUBSCRIBERS = IS_LONG ? 200 : 16;
const EVENTS = IS_LONG ? FAULT_ROUNDS * 600 : 1_500;
const PROXIES = 4;

/** What one subscriber was told, checked as it comes. */
class Story {
  seq = 0;
  gaps = 0;
  syncs = 0;
  readonly offences: string[] = [];

  sync(isGap: boolean): void {
    this.syncs += 1;
    if (!isGap) return;
    this.gaps += 1;
    // What follows a gap is counted from the next event on.
    this.seq = -1;
  }

  event(seq: number): void {
    if (this.seq >= 0 && seq !== this.seq + 1) this.offences.push(`${seq} after ${this.seq}`);
    this.seq = seq;
  }
}

test('[T2] [T4] fault 28: every sequence is complete or its gap is told, and nothing comes twice', {
  timeout: 60_000 + EVENTS * 40,
}, async () => {
  // A short history, so that some come back too late for it.
  await using engine = await startStreamEngine('', 'limits: {stream: {history_events: 120}}');
  const seed = Date.now() % 2 ** 31;
  const random = new SeededRandom(seed);
  const port = Number(new URL(engine.streams).port);
  const proxies = await Promise.all(Array.from({ length: PROXIES }, () => CutProxy.start(port)));
  const svc = registerWorker(engine.url, { handle_signals: false, log: () => {} });
  const room = svc.stream('chat').group<number>('room');
  const stories: Story[] = [];
  const watches = Array.from({ length: SUBSCRIBERS }, (_, index) => {
    const story = new Story();
    stories.push(story);
    const handlers = {
      onSync: (_items: unknown, { isGap }: { isGap: boolean }) => story.sync(isGap),
      onChange: ({ seq }: { seq: number }) => story.event(seq),
    };
    return room.subscribe(handlers, { url: proxies[index % PROXIES]?.url });
  });
  await Promise.all(watches.map((watch) => watch.ready()));
  for (let n = 1; n <= EVENTS; n++) {
    await room.set(`item${random.below(20)}`, n);
    if (random.below(150) === 0) random.pick(proxies).cut();
  }
  await waitFor('everybody knows the last event', () => stories.every(({ seq }) => seq === EVENTS), 40_000).catch(
    () => {},
  );
  const items = await room.list();
  for (const [index, story] of stories.entries()) {
    expect(story.offences, `subscriber ${index}, seed ${seed}`).toEqual([]);
    expect(watches[index]?.items, `subscriber ${index}, seed ${seed}`).toEqual(items);
  }
  expect(
    stories.reduce((sum, { syncs }) => sum + syncs, 0),
    'there were cuts',
  ).toBeGreaterThan(SUBSCRIBERS);
  await svc.shutdown();
  await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
});
