// Channels of svc-sdk against the real engine, with svc-sdk and with the iii client on the other end.

import { createHash, randomBytes } from 'node:crypto';
import type { ChannelReader as IiiReader } from 'iii-sdk/channel';
import { createChannel as createIiiChannel } from 'iii-sdk/helpers';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChannelReader, ChannelRef } from '../../../src/sdk/index.ts';
import { ChannelClient, channelUrl } from '../../support/clients/channel-client.ts';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor, within } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

const connect = sdkWorkers();

beforeEach(() => {
  // The iii client reports every connection on the console.
  vi.spyOn(console, 'debug').mockReturnValue(undefined);
});

describe.each(['binary', 'json'] as const)('two workers of the %s form', (wire) => {
  test('[CH6] a channel reference anywhere in a payload or a result arrives as an open end', async () => {
    await using engine = await startTestEngine();
    const [provider, caller] = [connect(engine.url, { wire }), connect(engine.url, { wire })];
    const make = provider.registerFunction('own::make', async () => {
      const { writer, reader } = await provider.createChannel();
      void writer.write('from the handler').then(() => writer.close());
      // The end itself may be returned: it turns into its reference.
      return { list: [{ deep: reader }] };
    });
    const take = provider.registerFunction('own::take', async ({ from }: { from: [number, ChannelReader] }) => {
      const messages: (string | Uint8Array)[] = [];
      for await (const message of from[1]) messages.push(message);
      return messages.map((message) => (typeof message === 'string' ? message : [...message]));
    });
    await Promise.all([make.ready(), take.ready()]);
    const { writer, reader } = await caller.createChannel();
    const taken = take.trigger({ from: [7, reader] });
    await writer.write('text é€😀');
    await writer.write(Uint8Array.of(0, 255));
    await writer.write('');
    await writer.close();
    expect(await taken).toEqual(['text é€😀', [0, 255], '']);
    const made: { list: { deep: ChannelReader }[] } = await make.trigger();
    const texts: string[] = [];
    made.list[0]?.deep.onMessage((text) => texts.push(text));
    expect(await made.list[0]?.deep.readAll()).toHaveLength(0);
    expect(texts).toEqual(['from the handler']);
  });

  test('[CH6] objects that only resemble channel references arrive unchanged', async () => {
    await using engine = await startTestEngine();
    const svc = connect(engine.url, { wire });
    const echo = svc.registerFunction('own::echo', (value: unknown) => value);
    await echo.ready();
    for (const value of [
      { channel_id: 1, access_key: 'k', direction: 'read' },
      { channel_id: 'c', access_key: 'k', direction: 'both' },
      { channel_id: 'c', direction: 'read' },
      ['"channel_id"'],
      JSON.parse('{"__proto__":{"channel_id":"c"}}'),
    ]) {
      expect(await echo.trigger(value)).toEqual(value);
    }
  });
});

describe('an end of svc-sdk', () => {
  test('[wire 7] sends megabytes completely and in order, whichever end connects first', async () => {
    await using engine = await startTestEngine();
    const svc = connect(engine.url);
    for (const dialsFirst of ['writer', 'reader'] as const) {
      const { writer, reader } = await svc.createChannel();
      const bytes = randomBytes(5 * MIB + 1);
      let all = dialsFirst === 'reader' ? reader.readAll() : undefined;
      const written = writer.write(bytes).then(() => writer.close());
      await new Promise((resolve) => setImmediate(resolve));
      all ??= reader.readAll();
      expect(sha256(await all)).toBe(sha256(bytes));
      await written;
    }
  });

  test('[CH6] is a web stream on both sides', async () => {
    await using engine = await startTestEngine();
    const svc = connect(engine.url);
    const { writer, reader } = await svc.createChannel();
    const bytes = randomBytes(MIB);
    const piped = new Blob([bytes]).stream().pipeTo(writer.stream);
    const received = new Uint8Array(await new Response(reader.stream).arrayBuffer());
    await piped;
    expect(sha256(received)).toBe(sha256(bytes));
  });

  test('[wire 7] that closes before it writes is an empty stream', async () => {
    await using engine = await startTestEngine();
    const { writer, reader } = await connect(engine.url).createChannel();
    const all = reader.readAll();
    await writer.close();
    expect(await all).toHaveLength(0);
  });

  test('[wire 10.28] exchanges bytes with the iii client in both directions', async () => {
    await using engine = await startTestEngine();
    await using iii = new IiiClient(engine.url);
    const svc = connect(engine.url);
    const bytes = randomBytes(3 * MIB);
    iii.sdk.registerFunction('iii::hash', async ({ from }: { from: IiiReader }) => sha256(await from.readAll()));
    const hash = svc.registerFunction('own::hash', async ({ from }: { from: ChannelReader }) =>
      sha256(await from.readAll()),
    );
    await Promise.all([iii.ready(), hash.ready()]);
    const ours = await svc.createChannel();
    const hashed = svc.trigger({ function_id: 'iii::hash', payload: { from: ours.readerRef } });
    await ours.writer.write(bytes);
    await ours.writer.close();
    expect(await hashed).toBe(sha256(bytes));
    const theirs = await createIiiChannel(iii.sdk);
    const answer = iii.call('own::hash', { from: theirs.readerRef });
    theirs.writer.stream.end(bytes);
    expect(await answer).toBe(sha256(bytes));
  });

  test('[CH6] reaches its channel when the address has a path prefix or a query', async () => {
    await using engine = await startTestEngine();
    const svc = connect(`${engine.url}/?token=abc`);
    const { writer, readerRef } = await svc.createChannel();
    await writer.write('there');
    await writer.close();
    await using sink = await ChannelClient.dial(channelUrl(`${engine.url}/prefix`, readerRef));
    await sink.end();
    expect(sink.received).toEqual(['there']);
  });
});

describe('a writer that is faster than its reader', () => {
  test('[CH1] waits while the windows are full', async () => {
    // Between two routers there is another window.
    await using engine = await startTestEngine({ threads: 1 });
    const [fast, slow] = [connect(engine.url), connect(engine.url)];
    const { writer, reader } = await fast.createChannel({ buffer_size: 16 });
    let from: ChannelReader | undefined;
    const open = slow.registerFunction('own::open', (payload: { from: ChannelReader }) => {
      from = payload.from;
    });
    await open.ready();
    await open.trigger({ from: reader });
    if (from === undefined) throw new Error('The reference did not arrive');
    const total = 64 * MIB;
    const [sent, received] = [createHash('sha256'), createHash('sha256')];
    let [sentBytes, receivedBytes, most] = [0, 0, 0];
    const writing = (async () => {
      for (let serial = 0; sentBytes < total; serial++) {
        const bytes = Buffer.alloc(64 * KIB, serial % 251);
        sent.update(bytes);
        await writer.write(bytes);
        sentBytes += bytes.length;
      }
      await writer.close();
    })();
    for await (const bytes of from) {
      receivedBytes += bytes.length;
      received.update(bytes);
      // A slow reader: the writer and the engine run as far as they can.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, sentBytes - receivedBytes);
    }
    await writing;
    expect(receivedBytes).toBe(total);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
    // Half a MiB towards the engine, as much towards the reader, and the frame at the edge of each.
    expect(most).toBeLessThanOrEqual(MIB + 2 * 64 * KIB);
    expect(most).toBeGreaterThan(256 * KIB);
  });

  test('[CH1] fills no more than 1 MiB of the engine, and no file', async () => {
    await using engine = await EngineProcess.start(`limits: {engine: {channel_spill_bytes: 0}}\n${ONE_PORT}`);
    const svc = connect(engine.url);
    const { writer, reader } = await svc.createChannel();
    let written = 0;
    const writing = (async () => {
      for (; written < 200; written++) await writer.write(Buffer.alloc(64 * KIB, written));
      await writer.close();
    })();
    // Nothing announces that the writer waits. A pause that is too short only weakens the check below.
    const stalled = await waitFor('the writer waits', async () => {
      const before = written;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return before === written && written > 0 && written;
    });
    expect(stalled * 64 * KIB).toBeLessThanOrEqual(MIB);
    expect(sha256(await reader.readAll())).toBe(
      sha256(Buffer.concat(Array.from({ length: 200 }, (_, serial) => Buffer.alloc(64 * KIB, serial)))),
    );
    await writing;
  });
});

describe('an end that breaks off', () => {
  test('[CH5] a reader whose writer is lost gets an error and not the end of the stream', async () => {
    await using engine = await startTestEngine();
    const svc = connect(engine.url);
    const { writer, reader } = await svc.createChannel();
    await writer.write('before');
    const messages = reader[Symbol.asyncIterator]();
    expect(await messages.next()).toEqual({ done: false, value: 'before' });
    writer.abort();
    await expect(messages.next()).rejects.toMatchObject({
      code: 'CHANNEL_CLOSED',
      message: expect.stringContaining('the end of the stream is missing'),
    });
    await expect(reader.readAll()).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
    await expect(writer.write('after')).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
  });

  test('[wire 7] a writer whose reader leaves during a large write gets an error', async () => {
    await using engine = await startTestEngine();
    const svc = connect(engine.url);
    const { writer, reader } = await svc.createChannel();
    const writing = writer.write(new Uint8Array(50 * MIB));
    for await (const _ of reader) break;
    await expect(writing).rejects.toMatchObject({
      code: 'CHANNEL_CLOSED',
      message: expect.stringContaining('the reader is gone'),
    });
    await expect(writer.close()).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
  });

  test('[CH6] an end that is already taken or does not exist gives a reason and not its key', async () => {
    await using engine = await startTestEngine();
    const svc = connect(engine.url);
    svc.registerFunction('own::echo', (value: unknown) => value);
    await svc.ready();
    const echo = (ref: ChannelRef) =>
      svc.trigger<ChannelRef, ChannelReader>({ function_id: 'own::echo', payload: ref });
    const { readerRef, reader } = await svc.createChannel();
    reader.onMessage(() => {});
    const again = await echo(readerRef);
    await expect(again.readAll()).rejects.toMatchObject({ code: 'CHANNEL_TAKEN' });
    const none = await echo({ ...readerRef, channel_id: 'c-1' });
    await expect(none.readAll()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(none.readAll()).rejects.not.toThrow(readerRef.access_key);
  });

  test('[G1] both ends get an error when the engine stops', async () => {
    await using engine = await startTestEngine();
    const svc = connect(engine.url);
    const { writer, reader } = await svc.createChannel();
    await writer.write('first');
    const messages = reader[Symbol.asyncIterator]();
    await messages.next();
    const failed = expect(messages.next()).rejects.toMatchObject({
      code: 'CHANNEL_CLOSED',
      message: expect.stringContaining('the engine is shutting down (1001)'),
    });
    await engine.drain();
    await failed;
    await expect(writer.close()).rejects.toMatchObject({ code: 'CHANNEL_CLOSED' });
  });

  test('[SDK-8] a shutdown finishes the closing of a channel and ends the open ones', async () => {
    await using engine = await startTestEngine();
    const [svc, other] = [connect(engine.url), connect(engine.url)];
    const [left, open] = [await svc.createChannel(), await svc.createChannel()];
    other.registerFunction('own::give', (value: unknown) => value);
    await other.ready();
    const payload = left.readerRef;
    const reader = await other.trigger<ChannelRef, ChannelReader>({ function_id: 'own::give', payload });
    const stuck = expect(open.reader.readAll()).rejects.toMatchObject({ code: 'SHUTDOWN' });
    const all = reader.readAll();
    await open.writer.write('never closed');
    void left.writer.write(new Uint8Array(100_000));
    const closing = left.writer.close();
    await within(5_000, 'the worker ends', svc.shutdown());
    await Promise.all([closing, stuck]);
    expect(await all).toHaveLength(100_000);
    await expect(open.writer.write('more')).rejects.toMatchObject({ code: 'SHUTDOWN' });
  });
});

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
