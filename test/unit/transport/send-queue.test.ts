import { describe, expect, test } from 'vitest';
import { textToByteString } from '../../../src/protocol/json/byte-string.ts';
import { BinarySendQueue, FlushQueue, TextSendQueue } from '../../../src/transport/send-queue.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';
import { FakeSocket } from '../../support/fakes/fake-socket.ts';

describe('frames to be sent', () => {
  test('[guarantees 2] They leave at the end of the turn, in order, in one write', () => {
    const { clock, socket, sendQueue } = setUp();
    for (const number of [1, 2, 3]) sendQueue.push(frame(number));
    expect(socket.texts).toEqual([]);
    clock.flush();
    expect(socket.texts).toEqual([1, 2, 3].map(frame));
    expect(socket.writeCount).toBe(1);
  });

  test('[guarantees 2] Only send queues with frames are written, once per turn', () => {
    const clock = new FakeClock();
    const queue = new FlushQueue(clock);
    const [first, idle, second] = [setUp({ clock, queue }), setUp({ clock, queue }), setUp({ clock, queue })];
    first.sendQueue.push(frame(1));
    second.sendQueue.push(frame(2));
    first.sendQueue.push(frame(3));
    clock.flush();
    expect([first, idle, second].map(({ socket }) => socket.writeCount)).toEqual([1, 0, 1]);
    clock.flush();
    expect([first, idle, second].map(({ socket }) => socket.writeCount)).toEqual([1, 0, 1]);
  });

  test('[guarantees 2] A frame that is added while others are written is written after them', () => {
    const clock = new FakeClock();
    const queue = new FlushQueue(clock);
    const { socket, sendQueue } = setUp({ clock, queue });
    const other = setUp({ clock, queue, overflowed: () => sendQueue.push(frame(2)), bytesMax: 1 });
    sendQueue.push(frame(1));
    other.socket.stopReading();
    other.sendQueue.push(frame(9));
    clock.flush();
    expect(socket.texts).toEqual([1, 2].map(frame));
  });
});

describe('the count of bytes', () => {
  test('[guarantees 4] It includes the waiting bytes, as UTF-8, until the client has read them', () => {
    const { clock, sendQueue } = setUp();
    sendQueue.push(textToByteString('"é"'));
    sendQueue.push(textToByteString('"😀"'));
    expect(sendQueue.bytes).toBe(4 + 6);
    clock.flush();
    expect(sendQueue.bytes).toBe(0);
  });

  test('[guarantees 4] It includes the bytes that the client has not read', () => {
    const { clock, socket, sendQueue } = setUp();
    socket.stopReading();
    sendQueue.push(frame(1));
    clock.flush();
    sendQueue.push(frame(2));
    expect(sendQueue.bytes).toBe(frame(1).length + frame(2).length);
    clock.flush();
    expect(sendQueue.bytes).toBe(frame(1).length + frame(2).length);
    socket.readOn();
    expect(sendQueue.bytes).toBe(0);
  });

  test('[guarantees 4] Over the limit the owner is notified at the end of the turn, with the count', () => {
    const reported: number[] = [];
    const { clock, socket, sendQueue } = setUp({ bytesMax: 20, overflowed: (bytes) => reported.push(bytes) });
    socket.stopReading();
    sendQueue.push(textToByteString('x'.repeat(20)));
    clock.flush();
    expect(reported).toEqual([]);
    sendQueue.push(textToByteString('x'));
    expect(reported).toEqual([]);
    clock.flush();
    expect(reported).toEqual([21]);
  });

  test('[guarantees 4] Bytes that the client reads within the turn do not count', () => {
    const reported: number[] = [];
    const { clock, sendQueue } = setUp({ bytesMax: 20, overflowed: (bytes) => reported.push(bytes) });
    for (let number = 0; number < 100; number++) sendQueue.push(frame(number));
    clock.flush();
    expect(reported).toEqual([]);
  });
});

describe('the end', () => {
  test('[W2] After the end neither waiting nor new frames are sent', () => {
    const { clock, socket, sendQueue } = setUp();
    sendQueue.push(frame(1));
    sendQueue.close();
    sendQueue.push(frame(2));
    clock.flush();
    expect(socket.texts).toEqual([]);
    expect(sendQueue.bytes).toBe(0);
  });

  test('[L5] A frame that the library drops is reported to the owner once per turn', () => {
    let dropped = 0;
    const { clock, socket, sendQueue } = setUp({ dropped: () => dropped++ });
    socket.isDropping = true;
    sendQueue.push(frame(1));
    sendQueue.push(frame(2));
    clock.flush();
    expect(dropped).toBe(1);
  });

  test('[W2] A closed client gets nothing and does not affect others', () => {
    let dropped = 0;
    const { clock, socket, sendQueue } = setUp({ dropped: () => dropped++ });
    sendQueue.push(frame(1));
    socket.markClosed();
    clock.flush();
    expect([socket.texts, dropped]).toEqual([[], 0]);
  });
});

describe('messages of the binary form', () => {
  const KIB_8 = textToByteString(JSON.stringify('x'.repeat(8 * 1024)));

  test('[guarantees 2] They leave at the end of the turn, or earlier in order if many gather', () => {
    const { clock, socket, messages } = setUp();
    messages.open()?.control(frame(1));
    expect(socket.batches).toEqual([]);
    for (const text of [KIB_8, KIB_8, frame(2)]) messages.open()?.control(text);
    expect(socket.batches).toHaveLength(1);
    clock.flush();
    expect(socket.batches).toHaveLength(2);
    const sent = Buffer.concat(socket.batches).toString();
    const places = [frame(1), KIB_8, frame(2)].map((text) => sent.indexOf(text));
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect(places).not.toContain(-1);
  });

  test('[guarantees 4] [L5] For frames that left earlier, the owner is notified once at the end of the turn', () => {
    const reported: string[] = [];
    const events = {
      dropped: () => reported.push('dropped'),
      overflowed: () => reported.push('overflowed'),
      bytesMax: 1_000,
    };
    const { clock, socket, messages } = setUp(events);
    socket.stopReading();
    for (const text of [KIB_8, KIB_8, frame(1)]) messages.open()?.control(text);
    expect(messages.bytes).toBeGreaterThan(2 * KIB_8.length);
    expect(reported).toEqual([]);
    clock.flush();
    expect(reported).toEqual(['overflowed']);
    socket.isDropping = true;
    for (const text of [KIB_8, KIB_8, frame(2)]) messages.open()?.control(text);
    expect(reported).toEqual(['overflowed']);
    socket.isDropping = false;
    clock.flush();
    clock.flush();
    expect(reported).toEqual(['overflowed', 'dropped']);
  });
});

interface SetUpOptions {
  readonly clock?: FakeClock;
  readonly queue?: FlushQueue;
  readonly bytesMax?: number;
  readonly dropped?: () => void;
  readonly overflowed?: (bytes: number) => void;
}

function setUp(options: SetUpOptions = {}) {
  const { clock = new FakeClock(), bytesMax = 1e6, dropped = () => {}, overflowed = () => {} } = options;
  const socket = new FakeSocket();
  const flushes = options.queue ?? new FlushQueue(clock);
  const parts = { socket, flushes, bytesMax, events: { dropped, overflowed } };
  return { clock, socket, sendQueue: new TextSendQueue(parts), messages: new BinarySendQueue(parts) };
}

function frame(number: number) {
  return textToByteString(`{"type":"frame","number":${number}}`);
}
