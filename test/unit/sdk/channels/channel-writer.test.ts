import { describe, expect, test } from 'vitest';
import { forEachSeedInTurn } from '../../../support/random/seeded-random.ts';
import { ChannelPlatform, newRef } from './channel-platform.ts';

const KIB = 1024;

describe('a writer', () => {
  test('[CH6] connects when it is first used, with key and direction, and asks for credit', async () => {
    const platform = new ChannelPlatform('ws://engine.example/prefix/?token=abc');
    const writer = platform.newWriter();
    expect(platform.ends).toEqual([]);
    void writer.write('first');
    void writer.write('second');
    expect(platform.ends).toHaveLength(1);
    expect(platform.end.request).toMatchObject({
      url: 'ws://engine.example/prefix/ws/channels/c-1?token=abc&key=k%2F1&dir=write',
      subprotocols: ['svc.channel.v1'],
    });
  });

  test('[CH1] sends nothing without credit, and no frame more than it has', async () => {
    const platform = new ChannelPlatform();
    const writer = platform.newWriter();
    const done: number[] = [];
    for (let write = 0; write < 6; write++) void writer.write(`${write}`).then(() => done.push(write));
    await platform.settle();
    expect([platform.end.sent, done]).toEqual([[], []]);
    platform.end.grant(2, 1000);
    await platform.settle();
    expect([platform.end.sent, done]).toEqual([
      ['0', '1'],
      [0, 1],
    ]);
    platform.end.grant(100, 0);
    await platform.settle();
    expect(done).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('[CH1] cuts bytes into frames of 64 KiB, each of which needs credit of its own', async () => {
    const platform = new ChannelPlatform();
    const bytes = Buffer.from(Array.from({ length: 200 * KIB }, (_, at) => at % 251));
    let isDone = false;
    void platform
      .newWriter()
      .write(bytes)
      .then(() => {
        isDone = true;
      });
    platform.end.grant(10, 65 * KIB);
    await platform.settle();
    expect(platform.end.sent.map(({ length }) => length)).toEqual([64 * KIB, 64 * KIB]);
    expect(isDone).toBe(false);
    platform.end.grant(0, 200 * KIB);
    await platform.settle();
    expect(isDone).toBe(true);
    expect(Buffer.concat(platform.end.sent.map((frame) => Buffer.from(frame))).equals(bytes)).toBe(true);
  });

  test('[wire 7] sends the close frame after the last frame, and is closed when the engine has answered', async () => {
    const platform = new ChannelPlatform();
    const writer = platform.newWriter();
    let isClosed = false;
    void writer.write('one');
    void writer.close().then(() => {
      isClosed = true;
    });
    expect(platform.end.ending).toBeUndefined();
    platform.end.grant(1, 1000);
    expect(platform.end.ending).toEqual({ code: 1000, reason: 'stream_complete' });
    await platform.settle();
    expect(isClosed).toBe(false);
    platform.end.end(1000);
    await platform.settle();
    expect(isClosed).toBe(true);
    await writer.close();
    await expect(writer.write('late')).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
  });

  test('[wire 7] that never wrote still sends the close frame when the connection is up', async () => {
    const platform = new ChannelPlatform();
    void platform.newWriter().close();
    expect(platform.end.ending).toBeUndefined();
    platform.end.grant(64, 1000);
    expect(platform.end.ending).toMatchObject({ code: 1000 });
  });

  test('[wire 7] needs no credit for the close frame', async () => {
    const platform = new ChannelPlatform();
    const writer = platform.newWriter();
    void writer.write('takes all');
    platform.end.grant(1, 1);
    void writer.close();
    expect(platform.end.ending).toMatchObject({ code: 1000 });
  });

  test.each([
    ['the connection is lost', 1006, {}, 'CHANNEL_CLOSED'],
    ['the reader leaves', 4420, { reason: 'the reader is gone' }, 'CHANNEL_CLOSED'],
    ['the end is taken', 1008, {}, 'CHANNEL_TAKEN'],
    ['the channel is unknown', 1006, { httpStatus: 404 }, 'NOT_FOUND'],
    ['the port is full', 1006, { httpStatus: 503, reason: 'OVERLOADED' }, 'UNREACHABLE'],
    ['the engine says goodbye first', 1000, {}, 'CHANNEL_CLOSED'],
  ])('[CH5] when %s, every pending and later write fails', async (_case, status, closure, code) => {
    const platform = new ChannelPlatform();
    const writer = platform.newWriter();
    const failing = [writer.write('a'), writer.write(new Uint8Array(9)), writer.close()].map((promise) =>
      expect(promise).rejects.toMatchObject({ code, message: expect.stringContaining('channel c-1') }),
    );
    platform.end.end(status, closure);
    await Promise.all(failing);
    await expect(writer.close()).rejects.toMatchObject({ code });
    await expect(writer.write('b')).rejects.not.toThrow('k/1');
  });

  test('[wire 7] fails if the connection is lost during the closing handshake', async () => {
    const platform = new ChannelPlatform();
    const closing = platform.newWriter().close();
    platform.end.grant(1, 1);
    platform.end.end(1006);
    await expect(closing).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
  });

  test('[CH6] refuses data that it cannot send, and stays usable', async () => {
    const platform = new ChannelPlatform();
    const writer = platform.newWriter();
    const wrong: unknown = 7;
    await expect(writer.write(wrong as string)).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
    await expect(writer.write('é'.repeat(50_001))).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(platform.ends).toEqual([]);
    void writer.write('é'.repeat(50_000));
    platform.end.grant(1, 1);
    expect(platform.end.sent).toHaveLength(1);
  });

  test('[W1] gives up on an engine that falls silent', async () => {
    const platform = new ChannelPlatform();
    const failing = expect(platform.newWriter().write('x')).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
    await platform.pass(24_000);
    platform.end.beAlive();
    await platform.pass(24_000);
    expect(platform.end.pings).toBeGreaterThan(1);
    expect(platform.end.ending).toBeUndefined();
    await platform.pass(3_000);
    expect(platform.end.ending).toBe('terminated');
    await failing;
    expect(platform.clock.timerCount).toBe(0);
  });

  test('[CH1] keeps order and content under any sequence of grants', async () => {
    await forEachSeedInTurn(30, async (random) => {
      const platform = new ChannelPlatform();
      const writer = platform.newWriter();
      const sent: Buffer[] = [];
      for (let write = 0; write < 40; write++) {
        const bytes = Buffer.alloc(random.pick([0, 1, 1000, 70 * KIB, 200 * KIB]), write);
        sent.push(bytes);
        void writer.write(bytes);
        if (random.chance(50)) platform.end.grant(random.below(3), random.below(100_000));
      }
      const closing = writer.close();
      while (platform.end.ending === undefined) platform.end.grant(1, 64 * KIB);
      platform.end.end(1000);
      await closing;
      const received = Buffer.concat(platform.end.sent.map((frame) => Buffer.from(frame)));
      expect(received.equals(Buffer.concat(sent))).toBe(true);
    });
  });
});

test('[CH6] JSON.stringify writes the reference of an end, anywhere in a value', () => {
  const platform = new ChannelPlatform();
  const ends = { to: platform.newWriter(), from: [platform.newReader()] };
  expect(JSON.parse(JSON.stringify(ends))).toEqual({ to: newRef('write'), from: [newRef('read')] });
});
