// `svc.stream(…)` against the real engine: reading, writing, and subscriptions that survive a cut.

import { describe, expect, test } from 'vitest';
import { registerWorker, type StreamChange, type SvcWorker } from '../../../src/sdk/index.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { type StreamEngine, startStreamEngine } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Message {
  readonly n: number;
}

async function withWorker(
  engine: StreamEngine,
  streamUrl: string,
  use: (svc: SvcWorker) => Promise<void>,
): Promise<void> {
  const svc = registerWorker(engine.url, { stream_url: streamUrl, handle_signals: false, log: () => {} });
  try {
    await use(svc);
  } finally {
    await svc.shutdown();
  }
}

describe('svc.stream', () => {
  test('[SDK-5] reads, writes, lists and sends', async () => {
    await using engine = await startStreamEngine();
    await withWorker(engine, engine.streams, async (svc) => {
      const chat = svc.stream('chat');
      const room = chat.group<Message>('room1');
      expect(await room.get('a')).toBe(null);
      expect(await room.set('a', { n: 1 })).toBe(null);
      expect(await room.set('a', { n: 2 })).toEqual({ n: 1 });
      expect(await room.update('a', [{ type: 'increment', path: 'n', by: 5 }])).toEqual({
        ...{ old_value: { n: 2 }, new_value: { n: 7 } },
      });
      expect(await room.list()).toEqual(new Map([['a', { n: 7 }]]));
      expect(await chat.groups()).toEqual(['room1']);
      await chat.group<Message>('room2').set('a', { n: 1 });
      expect(await chat.groups({ offset: 1, limit: 1 })).toEqual(['room2']);
      const heard: unknown[] = [];
      const watch = room.subscribe({ onEvent: ({ type, data, id }) => heard.push([type, data, id]) });
      await watch.ready();
      await room.send('typing', 'ann');
      await room.send('seen', true, 'a');
      await waitFor('both events are heard', () => heard.length === 2);
      expect(heard).toEqual([
        ['typing', 'ann', null],
        ['seen', true, 'a'],
      ]);
      expect(await room.delete('a')).toEqual({ n: 7 });
      await waitFor('the deletion is seen', () => watch.items.size === 0);
    });
  });

  test('[T4] a subscription that was cut gets every event once, and has the right items in the end', async () => {
    await using engine = await startStreamEngine();
    await using proxy = await CutProxy.start(Number(new URL(engine.streams).port));
    await withWorker(engine, proxy.url, async (svc) => {
      const room = svc.stream('chat').group<Message>('room1');
      const changes: StreamChange<Message>[] = [];
      const syncs: boolean[] = [];
      const watch = room.subscribe({
        onChange: (change) => void changes.push(change),
        onSync: (_items, { recovered }) => void syncs.push(recovered),
      });
      await watch.ready();
      for (let n = 1; n <= 300; n++) {
        await room.set(`item${n % 7}`, { n });
        if (n % 100 === 0) proxy.cut();
      }
      await waitFor('the last change is reported', () => changes.at(-1)?.data.n === 300, 15_000);
      expect(changes.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
      expect(syncs.filter((recovered) => !recovered)).toHaveLength(1);
      expect(watch.items).toEqual(await room.list());
    });
  });

  test('[T4] events that are no longer kept are reported as a gap, and the items are right all the same', async () => {
    await using engine = await startStreamEngine('', 'limits: {stream: {history_events: 3}}');
    await using proxy = await CutProxy.start(Number(new URL(engine.streams).port));
    await using writer = await RawWorker.connect(engine.url);
    await withWorker(engine, proxy.url, async (svc) => {
      const room = svc.stream('chat').group<Message>('room1');
      const gaps: boolean[] = [];
      const watch = room.subscribe({ onSync: (_items, { isGap }) => void gaps.push(isGap) });
      await watch.ready();
      proxy.close();
      for (let n = 1; n <= 20; n++) {
        await writer.call('stream::set', { stream_name: 'chat', group_id: 'room1', item_id: String(n), data: { n } });
      }
      proxy.reopen();
      await waitFor('the gap is reported', () => gaps.length === 2, 15_000);
      expect(gaps).toEqual([false, true]);
      expect(watch.items.size).toBe(20);
    });
  });

  test('[SDK-5] reports why a subscription was refused, and does not try again', async () => {
    await using engine = await startStreamEngine('auth_function: auth::check');
    await using worker = await RawWorker.connect(engine.url);
    let asked = 0;
    await worker.serve('auth::check', (input) => {
      asked += 1;
      const { headers } = input as { headers: Record<string, string> };
      return headers.authorization === 'Bearer good' ? { context: null } : undefined;
    });
    await withWorker(engine, engine.streams, async (svc) => {
      const room = svc.stream('chat').group('room1');
      await expect(room.subscribe({}, { token: 'bad' }).ready()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
      await room.subscribe({}, { token: async () => 'good' }).ready();
      expect(asked).toBe(2);
    });
  });
});
