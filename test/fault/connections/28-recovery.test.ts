// Fault 28: subscribers of the SDK are cut at random while a writer never stops.

import { expect, test } from 'vitest';
import { registerWorker } from '../../../src/sdk/index.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { FAULT_ROUNDS, faultRandom } from '../../support/load/fault-tools.ts';
import { startStreamEngine } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const SUBSCRIBERS = IS_LONG ? 200 : 16;
/** For the short form. The long one writes for as long as the catalogue says, at a hundred rounds. */
const EVENTS = 1_500;
const LONG_MS = IS_LONG ? FAULT_ROUNDS * 6_000 : 0;
const PROXIES = 4;

/** The messages of one subscriber, checked as they come. */
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
  let [last, cuts] = [0, 0];
  for (const endMs = performance.now() + LONG_MS; last < EVENTS || performance.now() < endMs; ) {
    await room.set(`item${random.below(20)}`, ++last);
    if (random.below(150) !== 0) continue;
    random.pick(proxies).cut();
    cuts += 1;
  }
  // A subscriber that reconnected with a gap gets a number only with the next event.
  const written = last;
  const isToldAnother = async (): Promise<boolean> => {
    await room.set('end', ++last);
    return stories.every(({ seq }) => seq > written);
  };
  await waitFor('all get one more event', isToldAnother, 40_000);
  await waitFor('all have the last event', () => stories.every(({ seq }) => seq === last), 40_000);
  const items = await room.list();
  const gaps = stories.reduce((sum, story) => sum + story.gaps, 0);
  const seen = [`events=${last}`, `cuts=${cuts}`, `gaps reported=${gaps}`].join();
  line.figure = `offences=${stories.flatMap(({ offences }) => offences).length},${seen}`;
  for (const [index, story] of stories.entries()) {
    expect(story.offences, `subscriber ${index}`).toEqual([]);
    expect(watches[index]?.items, `subscriber ${index}`).toEqual(items);
  }
  expect(
    stories.reduce((sum, { syncs }) => sum + syncs, 0),
    'there were cuts',
  ).toBeGreaterThan(SUBSCRIBERS);
  await svc.shutdown();
  await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
});
