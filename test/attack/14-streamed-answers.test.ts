// A page that may serve routes requests its own route, and streams the answer to itself without reading it.

import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { ChannelClient, channelUrl, type Ref } from '../support/clients/channel-client.ts';
import { type HttpEngine, startHttpEngine } from '../support/clients/http-engine.ts';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { expectCount } from '../support/engine/expect-count.ts';
import { within } from '../support/wait-for.ts';
import { restrictedUrl } from './restricted-page.ts';

const MIB = 1024 * 1024;
const ROUTES = `{name: svc-worker-manager, config: {port: 0, rbac: {allow_trigger_types: [http], expose_functions: []}}}`;

test('Unread bytes of all streamed answers count towards the channel limit of the page', async () => {
  await using scene = await openScene('limits: {browser: {channel_bytes: 4194304}}');
  for (let one = 0; one < 3; one++) {
    const { writer, client } = await scene.beginAnswer();
    // The sockets of this machine take some megabytes before the engine keeps bytes.
    const piece = Buffer.alloc(MIB - 1024);
    for (let sent = 0; sent < 60 && writer.socket.readyState === writer.socket.OPEN; sent++) {
      await writer.send(piece).catch(() => undefined);
    }
    const { code, reason } = await writer.end();
    expect(code).toBe(1013);
    expect(reason).toContain('limits.browser.channel_bytes');
    expect(client.destroyed).toBe(false);
  }
  // Each answer of the page is closed. The share of trusted workers is untouched.
  await expectCount(scene.engine, 3, 'channels.trouble', 'buffer_full');
});

test('An answer with too many headers is 502', async () => {
  await using scene = await openScene();
  const { writer, client } = await scene.beginAnswer();
  const answer = new Promise<string>((resolve) => client.once('data', (bytes: Buffer) => resolve(bytes.toString())));
  client.resume();
  const order = JSON.stringify({ type: 'set_headers', headers: { 'x-more': 'x'.repeat(50_000) } });
  for (let sent = 0; sent < 40 && writer.socket.readyState === writer.socket.OPEN; sent++) {
    await writer.send(order).catch(() => undefined);
  }
  expect(await within(5_000, 'the request is answered', answer)).toMatch(/^HTTP\/1\.1 502 /);
  expect(await writer.end()).toMatchObject({ code: 4420 });
});

test('An answer with a long header is streamed', async () => {
  await using scene = await openScene();
  const { writer, client } = await scene.beginAnswer();
  let text = '';
  client.resume().on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  await writer.send(JSON.stringify({ type: 'set_headers', headers: { 'x-long': 'x'.repeat(10_000) } }));
  await writer.send(Buffer.from('the body'));
  writer.socket.close(1000);
  await writer.end();
  await expect.poll(() => text).toContain('the body');
  expect(text).toContain(`x-long: ${'x'.repeat(10_000)}`);
});

interface Answering {
  readonly writer: ChannelClient;
  readonly client: Socket;
}

async function openScene(top = '') {
  const engine: HttpEngine = await startHttpEngine('', { top, workers: [ROUTES] });
  const pageUrl = restrictedUrl(engine);
  const page = await RawWorker.connect(pageUrl);
  await page.register('api::mine');
  const config = { api_path: '/mine' };
  page.send({ type: 'registertrigger', id: 'mine', trigger_type: 'http', function_id: 'api::mine', config });
  await page.settled();
  const open: Answering[] = [];
  return {
    engine,
    async beginAnswer(): Promise<Answering> {
      const client = connect(engine.httpPort, '127.0.0.1');
      client.on('error', () => {});
      client.pause();
      client.write('GET /mine HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const call = await page.next('invokefunction');
      const response: Ref = Object(call.data).response;
      const answering = { client, writer: await ChannelClient.dial(channelUrl(pageUrl, response)) };
      open.push(answering);
      return answering;
    },
    async [Symbol.asyncDispose]() {
      for (const { writer, client } of open) {
        client.destroy();
        await writer[Symbol.asyncDispose]();
      }
      await page[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
    },
  };
}
