// Fault 32: subscribing again and again while a writer never stops.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient, type StreamMessage } from '../../support/clients/stream-client.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { FAULT_ROUNDS } from '../../support/load/fault-tools.ts';
import { startStreamEngine } from '../../support/stores/stream-engine.ts';

const AT_ONCE = 50;
const BATCHES = process.env.SVC_FAULT_ROUNDS === undefined ? 6 : FAULT_ROUNDS * 2;
const ROOM = { stream_name: 'chat', group_id: 'room' };

test('[T3] [fault 32] snapshot and events always give the same result, whenever the snapshot was taken', {
  timeout: 60_000 + BATCHES * 5_000,
}, async () => {
  const line = faultLine('32', 'snapshot race', `alike=${BATCHES * AT_ONCE}`);
  await using engine = await startStreamEngine('', 'limits: {stream: {connections_per_second: 100000}}');
  await using worker = await RawWorker.connect(engine.url);
  await using witness = await StreamClient.connect(engine.streams, '/stream/chat/room');
  let [isWriting, alike] = [true, 0];
  const writer = writeUntil(worker, () => !isWriting);
  for (let batch = 0; batch < BATCHES; batch++) {
    const clients = await Promise.all(
      Array.from({ length: AT_ONCE }, () => StreamClient.connect(engine.streams, '/stream/chat/room')),
    );
    for (const client of clients) await client.until(({ event }) => event.type === 'sync');
    await worker.call('stream::send', { ...ROOM, type: 'mark', data: batch });
    const isMark = ({ event }: StreamMessage): boolean => event.event?.data === batch && event.type === 'event';
    await witness.until(isMark);
    const known = itemsAfter(witness.messages, isMark);
    for (const client of clients) {
      await client.until(isMark);
      expect(itemsAfter(client.messages, isMark)).toEqual(known);
      line.figure = `alike=${++alike}`;
      await client[Symbol.asyncDispose]();
    }
  }
  isWriting = false;
  await writer;
});

async function writeUntil(worker: RawWorker, isOver: () => boolean): Promise<void> {
  for (let n = 1; !isOver(); n++) {
    const item_id = `i${n % 5}`;
    if (n % 7 === 0) await worker.call('stream::delete', { ...ROOM, item_id });
    else await worker.call('stream::set', { ...ROOM, item_id, data: n });
  }
}

/** The state of a client that merges the messages up to that one, each with the number after the one before. */
function itemsAfter(messages: readonly StreamMessage[], isLast: (message: StreamMessage) => boolean) {
  const end = messages.findIndex(isLast);
  const [sync, ...events] = messages.slice(0, end + 1);
  const values: readonly unknown[] = Array.isArray(sync?.event.data) ? sync.event.data : [];
  const items = new Map((sync?.event.ids ?? []).map((id, index) => [id, values[index]]));
  let { seq = 0 } = sync ?? {};
  for (const { id, seq: next, event } of events) {
    seq += 1;
    expect(next).toBe(seq);
    if (event.type === 'delete') items.delete(id ?? '');
    else if (event.type !== 'event') items.set(id ?? '', event.data);
  }
  return Object.fromEntries(items);
}
