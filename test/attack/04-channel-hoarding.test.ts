// Restricted connections that hoard channels: theirs are limited and end with them, and trusted callers keep their
// share.

import { expect, test } from 'vitest';
import { ChannelClient, channelUrl, isTurnedAway, type Ref } from '../support/clients/channel-client.ts';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { tryUpgrade } from '../support/clients/upgrade.ts';
import { expectCount } from '../support/engine/expect-count.ts';
import { startTestEngine, type TestEngine } from '../support/engine/test-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectPage, restrictedUrl } from './restricted-page.ts';

const MIB = 1024 * 1024;
const PAGES = 10;
const EACH = 1_000;

interface Made {
  readonly writer: Ref;
  readonly reader: Ref;
}

interface Asked {
  readonly made: readonly Made[];
  readonly errors: readonly { readonly code: string; readonly message: string }[];
}

test('Ten pages that ask for 10 000 channels leave room for trusted callers, and their channels end with them', async () => {
  // The default limit of messages would slow them down.
  await using engine = await start(
    '{browser: {messages_per_second: 100000, messages_burst: 100000, channels_per_second: 100000}}',
  );
  const pages = await connectAll(engine, PAGES);
  const asked = await Promise.all(pages.map((page) => askFor(page, EACH)));
  for (const { made, errors } of asked) {
    expect(made.length).toBe(64);
    expect(errors.length).toBe(EACH - 64);
    for (const { code, message } of errors) {
      expect(code).toBe('OVERLOADED');
      expect(message).toContain('limits.browser.channels');
    }
  }
  await expectCount(engine, PAGES * (EACH - 64), 'channels.refused', 'per_connection');
  await using trusted = await RawWorker.connect(engine.url);
  const own = await askFor(trusted, EACH);
  expect(own.errors).toEqual([]);

  for (const page of pages) page.close();
  await Promise.all(pages.map(({ closed }) => closed));
  const left = asked.flatMap(({ made }) => made.slice(0, 3));
  await waitFor('the channels of the pages are removed', async () => {
    const gone = await Promise.all(left.map(({ reader }) => isTurnedAway(channelUrl(engine.url, reader), 1_000)));
    return !gone.includes(false);
  });
  for (const { reader } of own.made.slice(0, 3)) {
    expect(await tryUpgrade(engine.port, { path: channelUrl('', reader) })).toMatchObject({ status: 101 });
  }
});

test('By default a page makes 20 channels at once and 20 a second', async () => {
  await using engine = await start();
  const [page] = await connectAll(engine, 1);
  if (page === undefined) throw new Error('No client connected');
  const { made, errors } = await askFor(page, 64);
  expect(made.length).toBeGreaterThanOrEqual(20);
  expect(made.length).toBeLessThan(64);
  expect(errors[0]).toMatchObject({ code: 'RATE_LIMITED', message: expect.stringContaining('channels_per_second') });
});

test('Half of all channels is reserved for trusted callers', async () => {
  await using engine = await start('{engine: {channels: 100}, browser: {channels_per_second: 1000}}');
  const pages = await connectAll(engine, PAGES);
  const asked: Asked[] = [];
  for (const page of pages) asked.push(await askFor(page, 20));
  expect(asked.reduce((sum, { made }) => sum + made.length, 0)).toBe(50);
  const [refusal] = asked.flatMap(({ errors }) => errors);
  expect(refusal).toMatchObject({ code: 'OVERLOADED', message: expect.stringContaining('limits.engine.channels') });
  await expectCount(engine, PAGES * 20 - 50, 'channels.refused', 'reserved');
  await using trusted = await RawWorker.connect(engine.url);
  expect((await askFor(trusted, 50)).errors).toEqual([]);
  for (const page of pages) page.close();
});

test('A page without readers fills at most 48 MiB, and channels of trusted callers are unaffected', async () => {
  await using engine = await start();
  const [page] = await connectAll(engine, 1);
  if (page === undefined) throw new Error('No client connected');
  const { made } = await askFor(page, 16);
  expect(made.length).toBe(16);
  const goodbyes = await Promise.all(made.map(({ writer }) => flood(restrictedUrl(engine), writer, 80)));
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

function connectAll(engine: TestEngine, count: number): Promise<RawWorker[]> {
  return Promise.all(Array.from({ length: count }, () => connectPage(engine)));
}

/** Asks for this many channels at once. Reads the frames directly, because 10 000 promises are slow. */
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

/** Writes this many MiB into a channel without flow control, until the engine closes it. */
async function flood(url: string, ref: Ref, mib: number): Promise<{ code: number; reason: string }> {
  await using writer = await ChannelClient.dial(channelUrl(url, ref));
  const piece = Buffer.alloc(MIB - 1024);
  for (let sent = 0; sent < mib && writer.socket.readyState === writer.socket.OPEN; sent++) {
    // The engine closes the channel during one of them.
    await writer.send(piece).catch(() => undefined);
  }
  return await writer.end();
}
