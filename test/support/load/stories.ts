// Subscribers of the SDK whose connections are cut at random while a writer never stops: each checks that what it is
// given is complete, or that a gap is reported.

import { expect } from 'vitest';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import type { SeededRandom } from '../random/seeded-random.ts';
import { waitFor } from '../wait-for.ts';
import type { CutProxy } from './cut-proxy.ts';

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

export interface StoriesOptions {
  readonly proxies: readonly CutProxy[];
  /** Each of them subscribes, in turn, and writes. */
  readonly workers: readonly SvcWorker[];
  readonly subscribers: number;
  readonly events: number;
  /** It writes for so long, at least. */
  readonly lastsMs: number;
  /** A cut comes after so many events, on average. */
  readonly eventsPerCut: number;
  readonly random: SeededRandom;
}

/** Resolves with the figure for the line of the fault test, after every check. */
export async function checkStories(options: StoriesOptions): Promise<string> {
  const { proxies, workers, subscribers, events, lastsMs, eventsPerCut, random } = options;
  const rooms = workers.map((worker) => worker.stream('chat').group<number>('room'));
  const stories: Story[] = [];
  const watches = Array.from({ length: subscribers }, (_, index) => {
    const story = new Story();
    stories.push(story);
    const handlers = {
      onSync: (_items: unknown, { isGap }: { isGap: boolean }) => story.sync(isGap),
      onChange: ({ seq }: { seq: number }) => story.event(seq),
    };
    const room = rooms[index % rooms.length];
    if (room === undefined) throw new Error('There is no worker');
    return room.subscribe(handlers, { url: proxies[index % proxies.length]?.url });
  });
  await Promise.all(watches.map((watch) => watch.ready()));
  let [last, cuts] = [0, 0];
  for (const endMs = performance.now() + lastsMs; last < events || performance.now() < endMs; ) {
    await random.pick(rooms).set(`item${random.below(20)}`, ++last);
    if (random.below(eventsPerCut) !== 0) continue;
    random.pick(proxies).cut();
    cuts += 1;
  }
  // A subscriber that reconnected with a gap gets a number only with the next event.
  const written = last;
  const isToldAnother = async (): Promise<boolean> => {
    await random.pick(rooms).set('end', ++last);
    return stories.every(({ seq }) => seq > written);
  };
  await waitFor('all get one more event', isToldAnother, 40_000);
  await waitFor('all have the last event', () => stories.every(({ seq }) => seq === last), 40_000);
  const items = await rooms[0]?.list();
  const gaps = stories.reduce((sum, story) => sum + story.gaps, 0);
  for (const [index, story] of stories.entries()) {
    expect(story.offences, `subscriber ${index}`).toEqual([]);
    expect(watches[index]?.items, `subscriber ${index}`).toEqual(items);
  }
  expect(
    stories.reduce((sum, { syncs }) => sum + syncs, 0),
    'there were cuts',
  ).toBeGreaterThan(subscribers);
  return `offences=0,events=${last},cuts=${cuts},gaps reported=${gaps}`;
}
