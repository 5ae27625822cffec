import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/effects/clock.ts';
import { systemClock } from '../../../src/effects/clock.ts';
import { SharedMemoryCarrier } from '../../../src/effects/shared-memory/carrier.ts';
import { createRing, RECORD_BYTES_MAX, RingReader, RingWriter } from '../../../src/effects/shared-memory/ring.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type CarrierPair, LinkEnd, linkPair, testCarrier } from './carrier-contract.ts';

const IDS = ['0', '1'] as const;

function createLines() {
  const [up, down] = [createRing(), createRing()];
  const { port1, port2 } = new MessageChannel();
  return [
    { peerId: IDS[1], incoming: down, outgoing: up, port: port1 },
    { peerId: IDS[0], incoming: up, outgoing: down, port: port2 },
  ] as const;
}

const options = (clock: Clock = systemClock) => ({
  clock,
  load: () => ({ callsInFlight: 7, isDraining: false }),
  fail: (reason: string) => {
    throw new Error(reason);
  },
});

async function createPair(): Promise<CarrierPair> {
  const [one, two] = createLines();
  const carriers = [
    new SharedMemoryCarrier({ ...options(), lines: [one] }),
    new SharedMemoryCarrier({ ...options(), lines: [two], load: () => ({ callsInFlight: 3, isDraining: true }) }),
  ] as const;
  return {
    ids: IDS,
    carriers,
    async [Symbol.asyncDispose]() {
      for (const carrier of carriers) carrier.close();
      one.port.close();
    },
  };
}

testCarrier({ name: 'shared memory', createPair, hasOneSession: true });

describe('a carrier over shared memory', () => {
  test('[CL12] each router learns how busy the other is, and whether it drains', async () => {
    await using pair = await createPair();
    const [a, b] = await linkPair(pair);
    expect([a.link.callsInFlight, a.link.isDraining]).toEqual([3, true]);
    expect([b.link.callsInFlight, b.link.isDraining]).toEqual([7, false]);
  });

  test('carries frames of every length to another thread and back, in order', async () => {
    const [own, others] = createLines();
    const main = new URL('../../support/cluster/echo-thread.ts', import.meta.url);
    const thread = new Worker(main, { workerData: others, transferList: [others.port] });
    const carrier = new SharedMemoryCarrier({ ...options(), lines: [own] });
    const end = new LinkEnd(carrier, IDS[1]);
    await waitFor('the thread is there', () => end.link.isUp);
    const texts = Array.from({ length: 5_000 }, (_, index) => `${index} `.repeat(1 + ((index * 7919) % 97)));
    texts.splice(1_000, 0, 'x'.repeat(3 * RECORD_BYTES_MAX + 1), 'y'.repeat(2_000_000));
    for (const [index, text] of texts.entries()) {
      end.send(text);
      if (index % 50 === 0) await new Promise(setImmediate);
    }
    await waitFor('all have returned', () => end.received.length === texts.length);
    expect(end.received).toEqual(texts);
    carrier.close();
    own.port.close();
    expect(await once(thread, 'exit')).toEqual([0]);
  });

  test('[RO7] an idle reader is woken by one message, however much is written', async () => {
    const ring = createRing();
    const [writer, reader] = [new RingWriter(ring), new RingReader(ring)];
    reader.sleep();
    const wakes = Array.from({ length: 10 }, () => writer.write(Buffer.from('frame'), false) && writer.mustWake());
    expect(wakes.filter(Boolean)).toHaveLength(1);
    reader.sleep();
    expect(writer.mustWake()).toBe(true);
  });

  test('[RO7] a writer without room is woken by the reader that frees it', () => {
    const ring = createRing();
    const [writer, reader] = [new RingWriter(ring), new RingReader(ring)];
    const record = Buffer.alloc(RECORD_BYTES_MAX, 'x');
    while (writer.write(record, false));
    expect(reader.mustWakeWriter()).toBe(false);
    writer.wait();
    reader.take(Buffer.alloc(RECORD_BYTES_MAX), 0);
    expect(reader.mustWakeWriter()).toBe(true);
    expect(reader.mustWakeWriter()).toBe(false);
    expect(writer.write(record, false)).toBe(true);
  });
});
