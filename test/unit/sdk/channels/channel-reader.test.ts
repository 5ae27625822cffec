import { describe, expect, test } from 'vitest';
import { decodeCredit, READER_WINDOW } from '../../../../src/protocol/frames/channel-credit.ts';
import type { ChannelReader } from '../../../../src/sdk/channels/channel-reader.ts';
import { ChannelPlatform } from './channel-platform.ts';

const KIB = 1024;

describe('a reader', () => {
  test('[wire 7] delivers texts and bytes in order, then ends', async () => {
    const platform = new ChannelPlatform();
    const reading = collect(platform.newReader());
    for (const frame of ['one', Buffer.of(1, 2), '', Uint8Array.of(3)]) platform.end.say(frame);
    platform.end.end(1000);
    expect(await reading).toEqual(['one', Uint8Array.of(1, 2), '', Uint8Array.of(3)]);
    expect(platform.end.request.url).toBe('ws://127.0.0.1:49134/ws/channels/c-1?key=k%2F1&dir=read');
  });

  test('[CH1] grants credit when a message is delivered, not when it arrives', async () => {
    const platform = new ChannelPlatform();
    const messages = platform.newReader()[Symbol.asyncIterator]();
    const first = messages.next();
    await platform.settle();
    for (let frame = 0; frame < READER_WINDOW.frames; frame++) platform.end.say('x');
    await first;
    await platform.settle();
    expect(platform.end.sent).toEqual([]);
    for (let frame = 1; frame < READER_WINDOW.frames; frame++) await messages.next();
    const grants = platform.end.sent.map((frame) => decodeCredit(String(frame)));
    expect(grants).toEqual(Array(2).fill({ frames: READER_WINDOW.frames / 2, bytes: READER_WINDOW.frames / 2 }));
  });

  test('[CH1] counts a text by its bytes, as the engine does', async () => {
    const platform = new ChannelPlatform();
    const messages = platform.newReader()[Symbol.asyncIterator]();
    const first = messages.next();
    const text = '€'.repeat(Math.ceil(READER_WINDOW.bytes / 6));
    await platform.settle();
    platform.end.say(text);
    await first;
    expect(platform.end.sent.map((frame) => decodeCredit(String(frame)))).toEqual([
      { frames: 1, bytes: Buffer.byteLength(text) },
    ]);
  });

  test('[CH5] delivers everything that arrived before the loss, then the error', async () => {
    const platform = new ChannelPlatform();
    const reader = platform.newReader();
    const messages = reader[Symbol.asyncIterator]();
    const first = messages.next();
    await platform.settle();
    platform.end.say('one');
    platform.end.say('two');
    platform.end.end(4420, { reason: 'the writer was lost' });
    expect(await first).toEqual({ done: false, value: 'one' });
    expect(await messages.next()).toEqual({ done: false, value: 'two' });
    await expect(messages.next()).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
    await expect(reader.readAll()).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
  });

  test('[CH6] reads all bytes in one piece, and passes texts to the listeners', async () => {
    const platform = new ChannelPlatform();
    const reader = platform.newReader();
    const [heard, heardToo]: string[][] = [[], []];
    const stop = reader.onMessage((text) => heard?.push(text));
    reader.onMessage((text) => heardToo?.push(text));
    const all = reader.readAll();
    platform.end.say('a');
    platform.end.say(Uint8Array.of(1, 2));
    stop();
    platform.end.say('b');
    platform.end.say(Uint8Array.of(3));
    platform.end.end(1000);
    expect(await all).toEqual(Uint8Array.of(1, 2, 3));
    expect([heard, heardToo]).toEqual([['a'], ['a', 'b']]);
  });

  test('[CH6] passes waiting texts to a late listener, and survives a listener that throws', async () => {
    const platform = new ChannelPlatform();
    const reader = platform.newReader();
    const messages = reader[Symbol.asyncIterator]();
    const first = messages.next();
    await platform.settle();
    for (const frame of ['zero', 'a', Uint8Array.of(1), 'b']) platform.end.say(frame);
    expect(await first).toEqual({ done: false, value: 'zero' });
    const heard: string[] = [];
    reader.onMessage(() => {
      throw new Error('no');
    });
    expect(platform.logs.map(({ message }) => message)).toEqual(
      Array(2).fill('channel c-1: a listener of onMessage threw no'),
    );
    reader.onMessage((text) => heard.push(text));
    platform.end.say('c');
    expect(heard).toEqual(['c']);
    expect(await messages.next()).toEqual({ done: false, value: Uint8Array.of(1) });
  });

  test('[CH1] grants credit at once for texts that go to a listener', () => {
    const platform = new ChannelPlatform();
    platform.newReader().onMessage(() => {});
    for (let frame = 0; frame < READER_WINDOW.frames; frame++) platform.end.say('x');
    expect(platform.end.sent).toHaveLength(2);
  });

  test('[CH6] reads no more than requested as a web stream', async () => {
    const platform = new ChannelPlatform();
    const stream = platform.newReader().stream.getReader();
    expect(platform.ends).toEqual([]);
    const first = stream.read();
    await platform.settle();
    for (let frame = 0; frame < 8; frame++) platform.end.say(new Uint8Array(64 * KIB));
    await first;
    await platform.settle();
    expect(platform.end.sent).toEqual([]);
    for (let frame = 1; frame < 4; frame++) await stream.read();
    expect(platform.end.sent).toHaveLength(1);
    await stream.cancel();
    expect(platform.end.ending).toBe('terminated');
  });

  test('[wire 7] closes the connection when it is left early', async () => {
    const platform = new ChannelPlatform();
    const reading = (async () => {
      for await (const message of platform.newReader()) return message;
    })();
    await platform.settle();
    platform.end.say('enough');
    expect(await reading).toBe('enough');
    expect(platform.end.ending).toBe('terminated');
    expect(platform.clock.timerCount).toBe(0);
  });

  test('[CH6] answers reads in order, and every read gets the end', async () => {
    const platform = new ChannelPlatform();
    const reader = platform.newReader();
    const [first, second, third] = [collect(reader), collect(reader), collect(reader)];
    await platform.settle();
    for (const text of ['a', 'b', 'c', 'd']) platform.end.say(text);
    await platform.settle();
    platform.end.end(1000);
    expect((await Promise.all([first, second, third])).flat().sort()).toEqual(['a', 'b', 'c', 'd']);
  });
});

async function collect(reader: ChannelReader): Promise<(string | Uint8Array)[]> {
  const messages: (string | Uint8Array)[] = [];
  for await (const message of reader) messages.push(message);
  return messages;
}
