// Data channels over real sockets, with the unmodified iii client and with clients without an SDK.

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ChannelReader, ChannelWriter } from 'iii-sdk/channel';
import { createChannel } from 'iii-sdk/helpers';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ChannelClient, channelUrl, type Ref } from '../../support/clients/channel-client.ts';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { getPage, tryUpgrade } from '../../support/clients/upgrade.ts';
import { ONE_PORT, startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

// The client reports every connection on the console.
beforeEach(() => {
  vi.spyOn(console, 'debug').mockReturnValue(undefined);
});

async function newChannel(engine: TestEngine): Promise<{ writer: Ref; reader: Ref }> {
  await using caller = await RawWorker.connect(engine.url);
  const { result } = await caller.call('engine::channels::create', {});
  return result as { writer: Ref; reader: Ref };
}

const count = (engine: TestEngine, what: string): number => engine.counters.get('channels.trouble', what);

describe('the published iii client', () => {
  test('[wire 10.28] makes a channel and passes its reader in a payload', async () => {
    await using engine = await startTestEngine();
    await using worker = new IiiClient(engine.url);
    await using caller = new IiiClient(engine.url);
    worker.sdk.registerFunction('files::hash', async ({ name, reader }: { name: string; reader: ChannelReader }) => {
      const notes: string[] = [];
      reader.onMessage((text) => notes.push(text));
      const bytes = await reader.readAll();
      return { name, notes, length: bytes.length, hash: sha256(bytes) };
    });
    await worker.ready();
    const bytes = randomBytes(5 * MIB + 17);
    const channel = await createChannel(caller.sdk);
    const answer = caller.call('files::hash', { name: 'a.bin', reader: channel.readerRef });
    channel.writer.sendMessage('é€😀');
    channel.writer.stream.write(bytes);
    channel.writer.stream.end();
    expect(await answer).toEqual({ name: 'a.bin', notes: ['é€😀'], length: bytes.length, hash: sha256(bytes) });
  });

  test('[wire 10.28] reads what a handler writes, also when the reader connects first', async () => {
    await using engine = await startTestEngine();
    await using worker = new IiiClient(engine.url);
    await using caller = new IiiClient(engine.url);
    const bytes = randomBytes(300 * KIB);
    worker.sdk.registerFunction('files::read', async ({ into }: { into: ChannelWriter }) => {
      into.stream.end(bytes);
      return 'written';
    });
    await worker.ready();
    const channel = await createChannel(caller.sdk, 8);
    const all = channel.reader.readAll();
    expect(await caller.call('files::read', { into: channel.writerRef })).toBe('written');
    expect(sha256(await all)).toBe(sha256(bytes));
    expect(count(engine, 'writer_lost')).toBe(0);
  });

  test('[wire 10.29] reaches its channels when its address has a query', async () => {
    const token = 'correct-horse-battery-staple-0123456789';
    const headers = { authorization: `Bearer ${token}` };
    await using engine = await startTestEngine({
      yaml: `drain_timeout_ms: 100\nbridge_token: ${token}\n${ONE_PORT}`,
    });
    await using worker = new IiiClient(`${engine.url}/?token=abc`, { headers });
    const channel = await createChannel(worker.sdk);
    const all = channel.reader.readAll();
    channel.writer.stream.end(Buffer.from('through the query'));
    expect((await all).toString()).toBe('through the query');
  });

  test('[CH3] loses nothing when it writes before its reader has connected', async () => {
    await using engine = await startTestEngine();
    await using client = new IiiClient(engine.url);
    const channel = await createChannel(client.sdk);
    const bytes = randomBytes(20 * MIB);
    const written = once(channel.writer.stream, 'finish');
    channel.writer.stream.end(bytes);
    await written;
    expect(sha256(await channel.reader.readAll())).toBe(sha256(bytes));
    expect(count(engine, 'buffer_full')).toBe(0);
  });
});

describe('an end that is refused', () => {
  test.each([
    ['an unknown id', { channel_id: '00000000-0000-4000-8000-000000000000' }, 404, 'Channel not found'],
    ['a wrong key', { access_key: 'wrong' }, 404, 'Channel not found'],
    ['an empty key', { access_key: '' }, 400, 'key is missing'],
    ['an unknown direction', { direction: 'both' }, 400, 'dir is missing or unknown'],
  ])('[wire 1.2] %s is refused before the upgrade', async (_case, fields, status, text) => {
    // Another router than the one that has the channel cannot know the key.
    await using engine = await startTestEngine({ threads: 1 });
    const { reader } = await newChannel(engine);
    const path = channelUrl('', { ...reader, ...fields });
    expect(await tryUpgrade(engine.port, { path })).toMatchObject({ status, text: expect.stringContaining(text) });
    expect(await tryUpgrade(engine.port, { path: `/?token=abc${path}` })).toMatchObject({ status });
    expect(await tryUpgrade(engine.port, { path: channelUrl('', reader) })).toMatchObject({ status: 101 });
  });

  test('[X3] a page of another origin is refused, even with the key', async () => {
    await using engine = await startTestEngine();
    const { reader } = await newChannel(engine);
    const headers = { origin: 'http://evil.example' };
    expect(await tryUpgrade(engine.port, { path: channelUrl('', reader), headers })).toMatchObject({ status: 403 });
  });

  test('[wire 1.2] a request without an upgrade is refused, and does not use up the end', async () => {
    await using engine = await startTestEngine();
    const { reader } = await newChannel(engine);
    const { status } = await getPage(engine.port, { path: channelUrl('', reader) });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    await using end = await ChannelClient.dial(channelUrl(engine.url, reader));
    expect(end.socket.readyState).toBe(end.socket.OPEN);
  });

  test('[wire 7] a second connection to an end is closed at once, also after the first has left', async () => {
    await using engine = await startTestEngine();
    const { writer, reader } = await newChannel(engine);
    await using first = await ChannelClient.dial(channelUrl(engine.url, writer));
    await using second = await ChannelClient.dial(channelUrl(engine.url, writer));
    expect(await second.end()).toMatchObject({ code: 1008 });
    await first.send('still here');
    first.socket.close(1000);
    await first.end();
    await using third = await ChannelClient.dial(channelUrl(engine.url, writer));
    expect(await third.end()).toMatchObject({ code: 1008 });
    await using sink = await ChannelClient.dial(channelUrl(engine.url, reader));
    expect(await sink.end()).toEqual({ code: 1000, reason: 'stream_complete' });
    expect(sink.received).toEqual(['still here']);
  });
});

describe('clients without an SDK', () => {
  test('[wire 7] get frames of every kind and size in order, below a path prefix too', async () => {
    await using engine = await startTestEngine();
    const { writer, reader } = await newChannel(engine);
    await using source = await ChannelClient.dial(channelUrl(`${engine.url}/engine/`, writer));
    await using sink = await ChannelClient.dial(channelUrl(engine.url, reader));
    const frames = ['', 'é€😀', Buffer.alloc(0), randomBytes(65_536), 'x'.repeat(MIB), randomBytes(4464), '{"a":1}'];
    for (const frame of frames) await source.send(frame);
    source.socket.close(1000, 'stream_complete');
    expect(await sink.end()).toEqual({ code: 1000, reason: 'stream_complete' });
    expect(sink.received).toEqual(frames);
  });

  test('[CH5] learn from the close code whether the stream is complete', async () => {
    await using engine = await startTestEngine();
    for (const [leave, code] of [
      [(end: ChannelClient) => end.socket.close(), 1000],
      [(end: ChannelClient) => end.socket.terminate(), 4420],
    ] as const) {
      const { writer, reader } = await newChannel(engine);
      await using sink = await ChannelClient.dial(channelUrl(engine.url, reader));
      await using source = await ChannelClient.dial(channelUrl(engine.url, writer));
      await source.send('before the end');
      await waitFor('the message arrives', () => sink.received.length === 1);
      leave(source);
      expect(await sink.end()).toMatchObject({ code });
      expect(sink.received).toEqual(['before the end']);
    }
  });

  test.each(['close', 'terminate'] as const)(
    '[wire 7] a writer is closed when its reader leaves by %s',
    async (how) => {
      await using engine = await startTestEngine();
      const { writer, reader } = await newChannel(engine);
      await using source = await ChannelClient.dial(channelUrl(engine.url, writer));
      await using sink = await ChannelClient.dial(channelUrl(engine.url, reader));
      sink.socket[how]();
      expect(await source.end()).toEqual({ code: 4420, reason: 'the reader is gone' });
    },
  );

  test('[wire 1.6] get pongs on both ends', async () => {
    await using engine = await startTestEngine();
    const { writer, reader } = await newChannel(engine);
    await using source = await ChannelClient.dial(channelUrl(engine.url, writer));
    await using sink = await ChannelClient.dial(channelUrl(engine.url, reader));
    for (const end of [source, sink]) {
      end.socket.ping('are you there');
      const [payload] = await once(end.socket, 'pong');
      expect(String(payload)).toBe('are you there');
    }
  });

  test('[wire 7] are closed with 1009 for a frame over the limit, and the reader with 4420', async () => {
    const yaml = `limits: {trusted: {frame_bytes: 65536}}\n${ONE_PORT}`;
    await using engine = await startTestEngine({ yaml });
    const { writer, reader } = await newChannel(engine);
    await using sink = await ChannelClient.dial(channelUrl(engine.url, reader));
    await using source = await ChannelClient.dial(channelUrl(engine.url, writer));
    await source.send(Buffer.alloc(64 * KIB));
    await source.send(Buffer.alloc(64 * KIB + 1));
    expect(await source.end()).toMatchObject({ code: 1009 });
    expect(await sink.end()).toMatchObject({ code: 4420 });
    expect(sink.received).toHaveLength(1);
  });

  test('[PD-52] are closed after five minutes if no client connects to the other end', async () => {
    const clock = new TurningClock();
    await using engine = await startTestEngine({ clock });
    const [lonely, pair] = [await newChannel(engine), await newChannel(engine)];
    await using writer = await ChannelClient.dial(channelUrl(engine.url, lonely.writer));
    await using source = await ChannelClient.dial(channelUrl(engine.url, pair.writer));
    await using sink = await ChannelClient.dial(channelUrl(engine.url, pair.reader));
    clock.advance(6 * 60_000);
    expect(await writer.end()).toMatchObject({ code: 4420 });
    await source.send('still open');
    await waitFor('the message arrives', () => sink.received.length === 1);
  });

  test('[G1] are closed with 1001 when the engine stops, after the reader has received everything', async () => {
    await using engine = await startTestEngine();
    const [open, left] = [await newChannel(engine), await newChannel(engine)];
    await using writer = await ChannelClient.dial(channelUrl(engine.url, open.writer));
    await using source = await ChannelClient.dial(channelUrl(engine.url, left.writer));
    const bytes = randomBytes(15 * MIB);
    await source.send(bytes);
    source.socket.close();
    await source.end();
    await using sink = await ChannelClient.dial(channelUrl(engine.url, left.reader));
    await engine.drain();
    expect(await writer.end()).toMatchObject({ code: 1001 });
    expect(await sink.end()).toMatchObject({ code: 1000 });
    expect(sha256(Buffer.from(sink.received[0] ?? ''))).toBe(sha256(bytes));
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
