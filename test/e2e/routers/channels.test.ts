// Channels whose ends are on different routers of one process.

import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { ChannelClient, channelUrl, type Ref } from '../../support/clients/channel-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';

const MIB = 1024 * 1024;
/** Enough that writer, channel and reader of some of them are on three routers. */
const CHANNELS = 8;

interface Ends {
  readonly writer: Ref;
  readonly reader: Ref;
}

test('[RO11] a drain closes no reader before it has what its writer sent, whichever routers they are on', async () => {
  await using engine = await startTestEngine({ threads: 3 });
  const sinks: ChannelClient[] = [];
  const sent = randomBytes(4 * MIB);
  for (let at = 0; at < CHANNELS; at++) {
    await using maker = await RawWorker.connect(engine.url);
    const { writer, reader } = (await maker.call('engine::channels::create', {})).result as Ends;
    await using source = await ChannelClient.dial(channelUrl(engine.url, writer));
    await source.send(sent);
    source.socket.close();
    await source.end();
    sinks.push(await ChannelClient.dial(channelUrl(engine.url, reader)));
  }
  await engine.drain();
  for (const sink of sinks) {
    expect(await sink.end()).toMatchObject({ code: 1000 });
    expect(Buffer.from(sink.received[0] ?? '').equals(sent)).toBe(true);
    await sink[Symbol.asyncDispose]();
  }
});
