// Channels between clients of two engines of one cluster. The engine on which a channel was created has it.

import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ChannelReader, ChannelWriter } from '../../../src/sdk/index.ts';
import { ChannelClient, channelUrl, type Ref } from '../../support/clients/channel-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { waitForFunction, waitForTriggers } from '../../support/cluster/cluster-engines.ts';
import { type ClusterPair, startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();
const MIB = 1024 * 1024;
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

interface Ends {
  readonly writer: Ref;
  readonly reader: Ref;
}

/** A channel of engine A, once B can pass its ends on. */
async function channelOfA(pair: ClusterPair): Promise<Ends> {
  const onA = connect(pair.a.url);
  connect(pair.b.url).registerFunction('far::ping', () => 'pong');
  await waitForFunction(onA, 'far::ping');
  await onA.trigger('far::ping', {});
  return await create(pair);
}

async function create({ a }: ClusterPair): Promise<Ends> {
  await using creator = await RawWorker.connect(a.url);
  const { result } = await creator.call('engine::channels::create', {});
  return result as Ends;
}

describe.skipIf(NO_NATS_SERVER)('a channel whose ends are on two engines', () => {
  test('[CL26] carries a large body to a reader on the other engine', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    connect(pair.b.url).registerFunction('files::hash', async ({ from }: { from: ChannelReader }) => {
      const bytes = await from.readAll();
      return { length: bytes.length, hash: sha256(bytes) };
    });
    await waitForFunction(caller, 'files::hash');
    const bytes = randomBytes(20 * MIB + 17);
    const { writer, reader } = await caller.createChannel();
    const answer = caller.trigger('files::hash', { from: reader });
    await writer.write(bytes);
    await writer.close();
    expect(await answer).toEqual({ length: bytes.length, hash: sha256(bytes) });
  });

  test('[CL26] carries texts and bytes from a writer on the other engine, in order', async () => {
    await using pair = await startClusterPair();
    const caller = connect(pair.a.url);
    connect(pair.b.url).registerFunction('files::list', async ({ into }: { into: ChannelWriter }) => {
      for (let index = 0; index < 1_000; index++)
        await into.write(index % 2 === 0 ? `é${index}` : Buffer.from([index]));
      await into.close();
    });
    await waitForFunction(caller, 'files::list');
    const { writer, reader } = await caller.createChannel();
    const written = caller.trigger('files::list', { into: writer });
    const received: (string | number)[] = [];
    for await (const message of reader) received.push(typeof message === 'string' ? message : (message[0] ?? -1));
    await written;
    const expected = Array.from({ length: 1_000 }, (_, index) => (index % 2 === 0 ? `é${index}` : index % 256));
    expect(received).toEqual(expected);
  });

  test('[CL26] has both ends on other engines than its own', async () => {
    await using pair = await startClusterPair();
    const { writer, reader } = await channelOfA(pair);
    await using from = await ChannelClient.dial(channelUrl(pair.b.url, writer));
    await using into = await ChannelClient.dial(channelUrl(pair.b.url, reader));
    await from.send('one');
    await from.send(Buffer.from('two'));
    from.socket.close(1000);
    expect(await into.end()).toMatchObject({ code: 1000, reason: 'stream_complete' });
    expect(into.received).toEqual(['one', Buffer.from('two')]);
  });

  test('[CL26] keeps all that a writer without flow control sends before its reader comes', async () => {
    await using pair = await startClusterPair();
    const { writer, reader } = await channelOfA(pair);
    await using from = await ChannelClient.dial(channelUrl(pair.b.url, writer));
    const block = randomBytes(MIB);
    for (let count = 0; count < 24; count++) await from.send(block);
    from.socket.close(1000);
    let bytes = 0;
    const onMessage = (data: Buffer): void => {
      bytes += data.length;
    };
    await using into = await ChannelClient.dial(channelUrl(pair.a.url, reader), { onMessage });
    expect(await into.end()).toMatchObject({ code: 1000 });
    expect(bytes).toBe(24 * MIB);
  });

  test('[CL26] reports to the writer that the reader has left, and to the reader that the writer was lost', async () => {
    await using pair = await startClusterPair();
    const first = await channelOfA(pair);
    await using writer = await ChannelClient.dial(channelUrl(pair.b.url, first.writer));
    const reader = await ChannelClient.dial(channelUrl(pair.a.url, first.reader));
    await writer.send('one');
    await waitFor('the reader has it', () => reader.received.length === 1);
    reader.socket.close(1000);
    expect(await writer.end()).toEqual({ code: 4420, reason: 'the reader is gone' });
    const second = await create(pair);
    await using cut = await ChannelClient.dial(channelUrl(pair.b.url, second.reader));
    const lost = await ChannelClient.dial(channelUrl(pair.a.url, second.writer));
    lost.socket.terminate();
    expect(await cut.end()).toMatchObject({ code: 4420 });
  });

  test('[CL26] closes an end with another key, and one that is taken, as its own engine does', async () => {
    await using pair = await startClusterPair();
    const { reader } = await channelOfA(pair);
    await using wrong = await ChannelClient.dial(channelUrl(pair.b.url, { ...reader, access_key: 'guessed' }));
    expect(await wrong.end()).toEqual({ code: 4420, reason: 'Channel not found' });
    await using taken = await ChannelClient.dial(channelUrl(pair.a.url, reader));
    await using second = await ChannelClient.dial(channelUrl(pair.b.url, reader));
    expect(await second.end()).toEqual({ code: 1008, reason: 'this end of the channel is taken already' });
    expect(taken.socket.readyState).toBe(taken.socket.OPEN);
    const unknown = { ...reader, channel_id: reader.channel_id.slice(0, 36) };
    await expect(ChannelClient.dial(channelUrl(pair.b.url, unknown))).rejects.toThrow('404');
  });

  test('[CL26] is cut for its reader when the engine that has it ends', async () => {
    await using pair = await startClusterPair();
    const { writer, reader } = await channelOfA(pair);
    await using into = await ChannelClient.dial(channelUrl(pair.b.url, reader));
    await using from = await ChannelClient.dial(channelUrl(pair.a.url, writer));
    await from.send('one');
    await waitFor('the reader has it', () => into.received.length === 1);
    await pair.a.drain();
    expect((await into.end()).code).not.toBe(1000);
  });

  test('[CL26] brings the body of a request to its handler, and the answer that it streams back', async () => {
    const port = await freePort();
    const workers = `  - {name: svc-http, config: {port: ${port}, host: 127.0.0.1}}\n`;
    await using pair = await startClusterPair({ workers }, {});
    const caller = connect(pair.a.url);
    const worker = connect(pair.b.url);
    worker.registerFunction('files::echo', async (request: EchoRequest) => {
      const bytes = await request.request_body.readAll();
      await request.response.write(JSON.stringify({ type: 'set_status', status_code: 201 }));
      await request.response.write(bytes);
      await request.response.close();
    });
    worker.registerTrigger({
      ...{ type: 'http', function_id: 'files::echo' },
      config: { api_path: 'echo', http_method: 'POST' },
    });
    await waitForTriggers(caller, 1);
    const body = randomBytes(3 * MIB);
    const answer = await fetch(`http://127.0.0.1:${port}/echo`, { method: 'POST', body });
    expect(answer.status).toBe(201);
    expect(sha256(new Uint8Array(await answer.arrayBuffer()))).toBe(sha256(body));
  });
});

interface EchoRequest {
  readonly request_body: ChannelReader;
  readonly response: ChannelWriter;
}
