// The memory and the files that the engine uses for a writer that does not wait and a reader that does not read.

import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ChannelClient, channelUrl, type Ref } from '../../support/clients/channel-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { ONE_PORT } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const FRAME = 64 * KIB;

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a writer without flow control that is faster than its reader', () => {
  test('[CH3] uses bounded memory, and every byte arrives in order', async () => {
    await using engine = await EngineProcess.start(`limits: {engine: {channel_spill_bytes: 536870912}}\n${ONE_PORT}`);
    const { writer, reader } = await newChannel(engine.url);
    const received = createHash('sha256');
    let receivedBytes = 0;
    const onMessage = (data: Buffer): void => {
      received.update(data);
      receivedBytes += data.length;
    };
    await using sink = await ChannelClient.dial(channelUrl(engine.url, reader), { onMessage });
    await using source = await ChannelClient.dial(channelUrl(engine.url, writer));
    await warmUp(engine.url);
    sink.socket.pause();
    const restBytes = engine.rssBytes;
    const sent = createHash('sha256');
    let sentBytes = 0;
    let mostBytes = 0;
    for (let serial = 0; sentBytes < 300 * MIB; serial++) {
      const frame = Buffer.alloc(FRAME - (serial % 100), serial % 251);
      sent.update(frame);
      sentBytes += frame.length;
      await source.send(frame);
      if (serial % 50 === 0) mostBytes = Math.max(mostBytes, engine.rssBytes);
    }
    expect(mostBytes - restBytes).toBeLessThan(64 * MIB);
    source.socket.close(1000);
    await source.end(20_000);
    sink.socket.resume();
    expect(await sink.end(20_000)).toMatchObject({ code: 1000 });
    expect(receivedBytes).toBe(sentBytes);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
  });

  test('[CH3] is closed with 1013 when its spill file is full, and its reader gets what came before', async () => {
    const limits = 'limits: {engine: {channel_buffer_bytes: 262144, channel_spill_bytes: 4194304}}';
    await using engine = await EngineProcess.start(`${limits}\n${ONE_PORT}`);
    const { writer, reader } = await newChannel(engine.url);
    await using source = await ChannelClient.dial(channelUrl(engine.url, writer));
    for (let serial = 0; source.socket.readyState === source.socket.OPEN; serial++) {
      await source.send(Buffer.alloc(FRAME, serial % 251)).catch(() => {});
    }
    expect(await source.end()).toMatchObject({ code: 1013, reason: expect.stringContaining('channel_spill_bytes') });
    await using sink = await ChannelClient.dial(channelUrl(engine.url, reader));
    expect(await sink.end()).toMatchObject({ code: 4420 });
    const serials = sink.received.map((frame) => Buffer.from(frame)[0]);
    expect(serials.length * FRAME).toBeGreaterThan(4 * MIB - FRAME);
    expect(serials.length * FRAME).toBeLessThan(5 * MIB);
    expect(serials).toEqual(serials.map((_, serial) => serial % 251));
    expect(engine.stderr).toContain('Channel writer closed: its reader is too slow');
    expect(engine.stderr).not.toContain(writer.access_key);
  });

  test('[CH4] [R6] leaves no file, not even when the engine is killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-spill-'));
    vi.stubEnv('SVC_TMP', folder);
    await using engine = await EngineProcess.start(ONE_PORT);
    const { writer } = await newChannel(engine.url);
    await using source = await ChannelClient.dial(channelUrl(engine.url, writer));
    for (let serial = 0; serial < 160; serial++) await source.send(Buffer.alloc(FRAME));
    await waitFor('the engine uses a file', () => openFiles(engine.pid).some((file) => file.startsWith(folder)));
    expect(await readdir(folder)).toEqual([]);
    engine.kill('SIGKILL');
    await engine.end(5_000);
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
  });
});

async function newChannel(url: string): Promise<{ writer: Ref; reader: Ref }> {
  await using caller = await RawWorker.connect(url);
  const { result } = await caller.call('engine::channels::create', {});
  return result as { writer: Ref; reader: Ref };
}

/** Code that runs for the first time also allocates memory. */
async function warmUp(url: string): Promise<void> {
  const { writer, reader } = await newChannel(url);
  await using source = await ChannelClient.dial(channelUrl(url, writer));
  for (let serial = 0; serial < 200; serial++) await source.send(Buffer.alloc(FRAME));
  source.socket.close();
  await using sink = await ChannelClient.dial(channelUrl(url, reader));
  await sink.end();
}

function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((descriptor) => {
    try {
      return [readlinkSync(join(folder, descriptor))];
    } catch {
      // It was closed after the list was read.
      return [];
    }
  });
}
