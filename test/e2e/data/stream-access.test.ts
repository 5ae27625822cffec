// Access to the stream server over real sockets, on both transports: authorization, limits, join and leave handlers.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { tryUpgrade } from '../../support/clients/upgrade.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { startStreamEngine, streamYaml } from '../../support/stores/stream-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { onBothTransports } from '../both-transports.ts';

const ROOM_PATH = '/stream/chat/room%201/';
const JOIN = { subscriptionId: 's1', streamName: 'chat', groupId: 'room 1' };

onBothTransports('the stream server', () => {
  test('[T7] calls join and leave handlers once for each subscription, with the context', async () => {
    await using engine = await startStreamEngine('auth_function: auth::check');
    await using worker = await RawWorker.connect(engine.url);
    const heard: [string, unknown][] = [];
    const digits = '12345678901234567890';
    await worker.serve('auth::check', () => ({ context: { user: 'ann', id: JSON.rawJSON(digits) } }));
    const frames: string[] = [];
    worker.socket.on('message', (text) => frames.push(String(text)));
    await worker.serve('on::join', (data) => void heard.push(['join', data]));
    await worker.serve('on::leave', (data) => void heard.push(['leave', data]));
    worker.send({ type: 'registertrigger', id: 'j', trigger_type: 'stream:join', function_id: 'on::join', config: {} });
    worker.send({
      type: 'registertrigger',
      id: 'l',
      trigger_type: 'stream:leave',
      function_id: 'on::leave',
      config: {},
    });
    await worker.settled();
    const client = await StreamClient.connect(engine.streams, `${ROOM_PATH}a/`);
    await client.nextOf('sync');
    client.join(JOIN);
    await client.nextOf('sync');
    client.leave(JOIN);
    client.leave(JOIN);
    await client[Symbol.asyncDispose]();
    await waitFor('all handlers have run', () => heard.length === 4);
    const facts = { stream_name: 'chat', group_id: 'room 1', context: { user: 'ann', id: Number(digits) } };
    expect(heard).toEqual([
      ['join', { ...facts, subscription_id: 'path', id: 'a' }],
      ['join', { ...facts, subscription_id: 's1' }],
      ['leave', { ...facts, subscription_id: 's1' }],
      ['leave', { ...facts, subscription_id: 'path', id: 'a' }],
    ]);
    expect(frames.filter((text) => text.includes(`"id":${digits}}`))).toHaveLength(4);
  });

  test('[T7] calls leave handlers also when a drain closes the connection with 1001', async () => {
    const engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    let left = 0;
    await worker.serve('on::leave', () => {
      left += 1;
    });
    worker.send({
      type: 'registertrigger',
      id: 'l',
      trigger_type: 'stream:leave',
      function_id: 'on::leave',
      config: {},
    });
    await worker.settled();
    const client = await StreamClient.connect(engine.streams, ROOM_PATH);
    await client.nextOf('sync');
    await engine.drain();
    expect((await client.closed).code).toBe(1001);
    expect(left).toBe(1);
  });

  test('[X6] refuses a subscription whose join handler refuses, fails or is missing', async () => {
    await using engine = await startStreamEngine();
    await using worker = await RawWorker.connect(engine.url);
    const answers: (() => unknown)[] = [
      () => ({ unauthorized: true }),
      () => {
        throw new Error('no idea');
      },
    ];
    await worker.serve('on::join', () => answers.shift()?.());
    worker.send({ type: 'registertrigger', id: 'j', trigger_type: 'stream:join', function_id: 'on::join', config: {} });
    await worker.settled();
    await using client = await StreamClient.connect(engine.streams);
    client.join(JOIN);
    expect(await client.nextOf('unauthorized')).toMatchObject({ streamName: 'chat' });
    client.join(JOIN);
    await client.nextOf('unauthorized');
    worker.send({ type: 'unregisterfunction', id: 'on::join' });
    await worker.settled();
    client.join(JOIN);
    await client.nextOf('unauthorized');
  });

  test('[X6] [fault 38] admits a connection only when the auth function answers with a context or null', async () => {
    const line = faultLine('38', 'stream auth answers', 'sockets=0');
    await using engine = await startStreamEngine('auth_function: auth::check');
    await using worker = await RawWorker.connect(engine.url);
    const port = Number(new URL(engine.streams).port);
    const status = async (): Promise<number> => (await tryUpgrade(port, { path: ROOM_PATH })).status;
    expect(await status()).toBe(401);
    let answer: unknown;
    await worker.serve('auth::check', () => {
      if (answer instanceof Error) throw answer;
      return answer;
    });
    const wrong = [
      undefined,
      null,
      {},
      [],
      'yes',
      true,
      1,
      { context: 1 },
      { context: 'x' },
      { context: [] },
      new Error('x'),
    ];
    for (const value of wrong) {
      answer = value;
      expect(await status(), JSON.stringify(value)).toBe(401);
    }
    line.figure = `sockets=0,answers=${wrong.length}`;
    answer = { context: null };
    await using client = await StreamClient.connect(engine.streams, ROOM_PATH);
    await client.nextOf('sync');
  });

  test('[X6] passes headers, path, query and address to the auth function, and never selects the token', async () => {
    await using engine = await startStreamEngine('auth_function: auth::check');
    await using worker = await RawWorker.connect(engine.url);
    const seen: Record<string, unknown>[] = [];
    await worker.serve('auth::check', (input) => {
      seen.push(input as Record<string, unknown>);
      return { context: { ok: 1 } };
    });
    await using browser = await StreamClient.connect(engine.streams, `${ROOM_PATH}?a=1&a=2&b=x`, {
      subprotocols: ['Authorization', 'secret-token'],
    });
    expect(browser.socket.protocol).toBe('Authorization');
    await using server = await StreamClient.connect(engine.streams, '/', { headers: { Authorization: 'Bearer t' } });
    expect(server.socket.protocol).toBe('');
    expect(seen[0]).toMatchObject({
      path: ROOM_PATH,
      query_params: { a: ['1', '2'], b: ['x'] },
      addr: '127.0.0.1',
      headers: { 'sec-websocket-protocol': expect.stringMatching(/^Authorization, ?secret-token$/) },
    });
    expect(seen[1]).toMatchObject({ path: '/', headers: { authorization: 'Bearer t' } });
  });

  test('[X3] admits pages of allowed_origins only', async () => {
    await using engine = await startStreamEngine('allowed_origins: ["https://app.example"]');
    await expect(
      StreamClient.connect(engine.streams, '/', { headers: { Origin: 'https://evil.example' } }),
    ).rejects.toThrow('403');
    await expect(
      StreamClient.connect(engine.streams, '/', { headers: { Origin: 'http://127.0.0.1' } }),
    ).rejects.toThrow('403');
    await using _client = await StreamClient.connect(engine.streams, '/', {
      headers: { Origin: 'https://app.example' },
    });
  });

  test('[guarantees 4] limits the number of subscriptions, the message size and the message rate of a client', async () => {
    await using engine = await startStreamEngine(
      '',
      'limits: {stream: {subscriptions: 2, messages_per_second: 5, messages_burst: 5}}',
    );
    await using client = await StreamClient.connect(engine.streams);
    for (const subscriptionId of ['1', '2', '3']) client.join({ ...JOIN, subscriptionId });
    const answers = [await client.next(), await client.next(), await client.next()];
    expect(answers.map(({ event }) => event.type).sort()).toEqual(['error', 'sync', 'sync']);
    for (let n = 0; n < 5; n++) client.leave({ ...JOIN, subscriptionId: 'x' });
    expect((await client.nextOf('error')).event.data).toMatchObject({ code: 'RATE_LIMITED' });
    client.say('x'.repeat(65_537));
    expect((await client.closed).code).toBe(1009);
  });
});

test('[X1] A stream server on every address without auth_function logs a warning, and is an error in strict mode', async () => {
  const yaml = streamYaml().replace('host: 127.0.0.1', 'host: 0.0.0.0');
  await using engine = await startTestEngine({ yaml });
  expect(engine.warnings.join()).toMatch(/:\d+:\d+: workers\[\d\]\.config: No auth_function, and '0\.0\.0\.0'/);
  await expect(startTestEngine({ yaml: `strict: true\n${yaml}` })).rejects.toThrow('No auth_function');
});
