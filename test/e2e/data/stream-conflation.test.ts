// Subscribers with `conflate` that do not read, over real sockets: they stay connected and end with the stored items.

import { expect, test } from 'vitest';
import { registerWorker, type StreamChange } from '../../../src/sdk/index.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient, type StreamMessage } from '../../support/clients/stream-client.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { PRICES, storedIn, writeUntilOneIsLeft } from '../../support/random/many-prices.ts';
import { startStreamEngine } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { onBothTransports } from '../both-transports.ts';

const PATH = '/stream/prices/all';

interface Price {
  readonly n: number;
}

/** The items of a subscriber that received these messages. Checks that every missing event is counted. */
function itemsAfter([sync, ...events]: readonly StreamMessage[]): Map<string, unknown> {
  expect(sync?.event.type).toBe('sync');
  const items = new Map<string, unknown>();
  let seq = sync?.seq ?? -1;
  for (const { id, event, seq: at = 0, conflated = 0 } of events) {
    expect(at).toBe(seq + 1 + conflated);
    seq = at;
    if (event.type === 'delete') items.delete(id ?? '');
    else if (event.type !== 'event') items.set(id ?? '', event.data);
  }
  return items;
}

onBothTransports('a slow subscriber', () => {
  test('[T5] with conflate stays connected, and ends with the newest value of every item', {
    timeout: 60_000,
  }, async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using conflated = await StreamClient.connect(engine.streams, `${PATH}?conflate=true`);
    await using plain = await StreamClient.connect(engine.streams, PATH);
    for (const client of [conflated, plain]) {
      await client.nextOf('sync');
      client.socket.pause();
    }
    const written = await writeUntilOneIsLeft(worker);
    await worker.call('stream::send', { ...PRICES, type: 'end', data: null });
    plain.socket.resume();
    expect((await plain.closed).code).toBe(4408);
    conflated.socket.resume();
    await conflated.until(({ event }) => event.event?.type === 'end');
    expect(itemsAfter(conflated.messages)).toEqual(await storedIn(worker));
    const leftOut = conflated.messages.reduce((sum, message) => sum + (message.conflated ?? 0), 0);
    expect(leftOut).toBeGreaterThan(0);
    expect(leftOut + conflated.messages.length).toBeLessThanOrEqual(written + 2);
    // It has caught up, so no further event is left out.
    await worker.call('stream::set', { ...PRICES, item_id: 'i0', data: { n: -1 } });
    expect(await conflated.next()).not.toHaveProperty('conflated');
  });
});

test('[T4] [T5] The items of an SDK subscription equal the store, also after a cut during a replay', {
  timeout: 60_000,
}, async () => {
  await using engine = await startStreamEngine();
  await using proxy = await CutProxy.start(Number(new URL(engine.streams).port));
  await using worker = await RawWorker.connect(engine.url);
  const svc = registerWorker(engine.url, { stream_url: proxy.url, handle_signals: false, log: () => {} });
  const prices = svc.stream('prices').group<Price>('all');
  const changes: StreamChange<Price>[] = [];
  const syncs: boolean[] = [];
  const handlers = {
    onSync: (_items: unknown, { isGap }: { isGap: boolean }) => void syncs.push(isGap),
    onChange: (change: StreamChange<Price>) => void changes.push(change),
  };
  const watch = prices.subscribe(handlers, { conflate: true });
  const plain = prices.subscribe();
  await Promise.all([watch.ready(), plain.ready()]);
  proxy.fallSilent();
  await writeUntilOneIsLeft(worker);
  plain.close();
  proxy.speakAgain();
  await waitFor('events were left out', () => changes.some(({ conflated = 0 }) => conflated > 0), 15_000);
  proxy.cut();
  await prices.set('end', { n: -1 });
  await waitFor('the last item arrives', () => watch.items.has('end'), 15_000);
  expect(watch.items).toEqual(await storedIn(worker));
  expect(syncs).toHaveLength(2);
  checkNumbers(changes, syncs);
  await svc.shutdown();
});

/** Each number rises by one and the events left out. The type fits a subscriber that knows only these changes. */
function checkNumbers(changes: readonly StreamChange<Price>[], syncs: readonly boolean[]): void {
  const known = new Set<string>();
  let seq = 0;
  for (const { id, type, seq: at, conflated = 0 } of changes) {
    if (!syncs.includes(true)) {
      expect(at).toBe(seq + 1 + conflated);
      if (type !== 'delete') expect(type).toBe(known.has(id) ? 'update' : 'create');
    }
    seq = at;
    if (type === 'delete') known.delete(id);
    else known.add(id);
  }
}
