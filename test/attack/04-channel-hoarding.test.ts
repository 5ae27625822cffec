// Strangers who hoard channels: what they may have ends with them, and never touches what trusted callers need.

import { expect, test } from 'vitest';
import { ChannelClient, channelUrl, type Ref } from '../support/clients/channel-client.ts';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { tryUpgrade } from '../support/clients/upgrade.ts';
import { startTestEngine, type TestEngine } from '../support/engine/test-engine.ts';
import { waitFor } from '../support/wait-for.ts';

const MIB = 1024 * 1024;
const STRANGERS = 10;
const EACH = 1_000;

interface Made {
  readonly writer: Ref;
  readonly reader: Ref;
}

interface Asked {
  readonly made: readonly Made[];
  readonly errors: readonly { readonly code: string; readonly message: string }[];
}

test('ten strangers who make 10 000 channels leave room to trusted callers, and nothing when they are gone', async () => {
  // Faster than the default limit of messages lets them be.
  await using engine = await start(
    '{browser: {messages_per_second: 100000, messages_burst: 100000, channels_per_second: 100000}}',
  );
  const strangers = await connectAll(engine.urls[1], STRANGERS);
  const asked = await Promise.all(strangers.map((stranger) => askFor(stranger, EACH)));
  for (const { made, errors } of asked) {
    expect(made.length).toBe(64);
    expect(errors.length).toBe(EACH - 64);
    for (const { code, message } of errors) {
      expect(code).toBe('OVERLOADED');
      expect(message).toContain('limits.browser.channels');
    }
  }
  expect(engine.counters.get('channels.refused', 'per_connection')).toBe(STRANGERS * (EACH - 64));
  await using trusted = await RawWorker.connect(engine.url);
  const own = await askFor(trusted, EACH);
  expect(own.errors).toEqual([]);

  for (const stranger of strangers) stranger.close();
  await Promise.all(strangers.map(({ closed }) => closed));
  const left = asked.flatMap(({ made }) => made.slice(0, 3));
  const statuses = await waitFor('the channels of those who left are gone', async () => {
    const found = await Promise.all(left.map(({ reader }) => statusOf(engine, reader)));
    return found.every((status) => status === 404) ? found : undefined;
  });
  expect(statuses.length).toBe(STRANGERS * 3);
  for (const { reader } of own.made.slice(0, 3)) expect(await statusOf(engine, reader)).toBe(101);
});

test('by default a stranger makes 20 channels at once and 20 a second, whatever it asks for', async () => {
  await using engine = await start();
  const [stranger] = await connectAll(engine.urls[1], 1);
  if (stranger === undefined) throw new Error('No client connected');
  const { made, errors } = await askFor(stranger, 64);
  expect(made.length).toBeGreaterThanOrEqual(20);
  expect(made.length).toBeLessThan(64);
  expect(errors[0]).toMatchObject({ code: 'RATE_LIMITED', message: expect.stringContaining('channels_per_second') });
});

test('half of all channels is for trusted callers, however many strangers come', async () => {
  await using engine = await start('{engine: {channels: 100}, browser: {channels_per_second: 1000}}');
  const strangers = await connectAll(engine.urls[1], STRANGERS);
  const asked = await Promise.all(strangers.map((stranger) => askFor(stranger, 20)));
  expect(asked.reduce((sum, { made }) => sum + made.length, 0)).toBe(50);
  const [refusal] = asked.flatMap(({ errors }) => errors);
  expect(refusal).toMatchObject({ code: 'OVERLOADED', message: expect.stringContaining('limits.engine.channels') });
  expect(engine.counters.get('channels.refused', 'reserved')).toBe(STRANGERS * 20 - 50);
  await using trusted = await RawWorker.connect(engine.url);
  expect((await askFor(trusted, 50)).errors).toEqual([]);
  for (const stranger of strangers) stranger.close();
});

test('a stranger whose readers never come fills 48 MiB, and the gigabyte of trusted callers stays free', async () => {
  await using engine = await start();
  const [stranger] = await connectAll(engine.urls[1], 1);
  if (stranger === undefined) throw new Error('No client connected');
  const { made } = await askFor(stranger, 16);
  expect(made.length).toBe(16);
  const goodbyes = await Promise.all(made.map(({ writer }) => flood(engine.urls[1] ?? '', writer, 80)));
  for (const { code, reason } of goodbyes) {
    expect(code).toBe(1013);
    expect(reason).toContain('limits.browser.channel_bytes');
  }
  await using trusted = await RawWorker.connect(engine.url);
  const { made: own } = await askFor(trusted, 1);
  const [channel] = own;
  if (channel === undefined) throw new Error('There is no channel');
  await using writer = await ChannelClient.dial(channelUrl(engine.url, channel.writer));
  for (let sent = 0; sent < 60; sent++) await writer.send(Buffer.alloc(MIB, sent));
  writer.socket.close(1000);
  let receivedBytes = 0;
  await using reader = await ChannelClient.dial(channelUrl(engine.url, channel.reader), {
    onMessage: (data) => {
      receivedBytes += data.length;
    },
  });
  expect(await reader.end()).toMatchObject({ code: 1000 });
  expect(receivedBytes).toBe(60 * MIB);
});

function start(limits = '{}'): Promise<TestEngine> {
  return startTestEngine({
    yaml: [
      'drain_timeout_ms: 100',
      `limits: ${limits}`,
      'workers:',
      '  - {name: svc-worker-manager, config: {port: 0}}',
      '  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: []}}}',
      '',
    ].join('\n'),
  });
}

function connectAll(url = '', count: number): Promise<RawWorker[]> {
  return Promise.all(Array.from({ length: count }, () => RawWorker.connect(url)));
}

/** Asks for so many channels, all at once. Reads the answers itself: a promise for each of 10 000 would be the slow part. */
function askFor({ socket }: RawWorker, count: number): Promise<Asked> {
  const made: Made[] = [];
  const errors: Asked['errors'][number][] = [];
  return new Promise((resolve) => {
    const read = (text: unknown): void => {
      const { type, result, error } = JSON.parse(String(text));
      if (type !== 'invocationresult') return;
      if (error === undefined) made.push(result);
      else errors.push(error);
      if (made.length + errors.length < count) return;
      socket.off('message', read);
      resolve({ made, errors });
    };
    socket.on('message', read);
    for (let asked = 0; asked < count; asked++) socket.send(askingFor(asked));
  });
}

function askingFor(number: number): string {
  return JSON.stringify({
    type: 'invokefunction',
    invocation_id: `channel-${number}`,
    function_id: 'engine::channels::create',
    data: {},
  });
}

async function statusOf(engine: TestEngine, ref: Ref): Promise<number> {
  return (await tryUpgrade(engine.port, { path: channelUrl('', ref) })).status;
}

/** Writes so many MiB into an end without minding the reader, until the engine ends it. */
async function flood(url: string, ref: Ref, mib: number): Promise<{ code: number; reason: string }> {
  await using writer = await ChannelClient.dial(channelUrl(url, ref));
  const piece = Buffer.alloc(MIB - 1024);
  for (let sent = 0; sent < mib && writer.socket.readyState === writer.socket.OPEN; sent++) {
    // The engine ends it in the middle of one of them.
    await writer.send(piece).catch(() => undefined);
  }
  return await writer.end();
}
