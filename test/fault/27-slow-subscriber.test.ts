// Fault 27: one subscriber of many reads hardly anything while events are written.

import { expect, test } from 'vitest';
import { EngineProcess } from '../support/engine-process.ts';
import { FAULT_ROUNDS } from '../support/fault-tools.ts';
import { RawWorker } from '../support/raw-worker.ts';
import { StreamClient } from '../support/stream-client.ts';
import { streamYaml } from '../support/stream-engine.ts';
import { waitFor } from '../support/wait-for.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const SUBSCRIBERS = IS_LONG ? 1_000 : 50;
const EVENTS = IS_LONG ? FAULT_ROUNDS * 2_000 : 1_000;
const MIB = 1024 * 1024;
const ROOM = { stream_name: 'chat', group_id: 'room' };

test('[T5] fault 27: it is closed with 4408, the others get every event, and memory stays', {
  timeout: 60_000 + EVENTS * 20,
}, async () => {
  await using engine = await EngineProcess.start(streamYaml('', 'limits: {stream: {connections_per_second: 10000}}'));
  const [workers = '', streams = ''] = engine.urls;
  await using worker = await RawWorker.connect(workers);
  const good: StreamClient[] = [];
  while (good.length < SUBSCRIBERS) good.push(await StreamClient.connect(streams, '/stream/chat/room'));
  await using slow = await StreamClient.connect(streams, '/stream/chat/room', { autoPong: false });
  await slow.nextOf('sync');
  for (const client of good) await client.nextOf('sync');
  const data = 'x'.repeat(4_000);
  let sent = 0;
  let highest = 0;
  const write = async (events: number): Promise<void> => {
    for (const end = sent + events; sent < end; ) {
      const calls = Array.from({ length: 100 }, () => worker.call('stream::send', { ...ROOM, type: 'e', data }));
      await Promise.all(calls);
      sent += 100;
      for (const client of good) await client.until(({ seq }) => seq === sent);
      highest = Math.max(highest, engine.rssBytes);
    }
  };
  // First with everybody reading: a young process grows whatever happens.
  await write(EVENTS);
  await slow.until(({ seq }) => seq === sent);
  const usual = highest;
  slow.socket.pause();
  // The system's own buffers take some megabytes before anything is unread for the engine.
  await waitFor(
    'the engine lets it go',
    async () => {
      await write(200);
      return (await connectionsOf(worker)) === SUBSCRIBERS;
    },
    60_000 + EVENTS * 10,
  );
  slow.socket.resume();
  expect((await slow.closed).code).toBe(4408);
  for (const client of good) {
    expect(client.messages.map(({ seq }) => seq)).toEqual(Array.from({ length: sent + 1 }, (_, seq) => seq));
  }
  expect(highest - usual).toBeLessThan((IS_LONG ? 8 : 24) * MIB);
  await Promise.all(good.map((client) => client[Symbol.asyncDispose]()));
});

/** How many clients the stream server has, as its health says. */
async function connectionsOf(worker: RawWorker): Promise<number> {
  const { result } = await worker.call('engine::health::check', {});
  type Health = { components: { modules: Record<string, { details?: { connections?: number } }> } };
  return (result as Health).components.modules['svc-stream']?.details?.connections ?? 0;
}
