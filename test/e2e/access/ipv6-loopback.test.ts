// An engine, its console and its command line on the IPv6 loopback, written with and without the brackets of URLs.

import { describe, expect, test } from 'vitest';
import { startConsole } from '../../../src/console/server/server.ts';
import { isConsoleInfo } from '../../../src/generated/console-contract.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { onBothTransports } from '../both-transports.ts';
import { runSvc, spawnSvc } from '../cli/cli-process.ts';

const MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';

function startOn(host: string): Promise<TestEngine> {
  const at = `port: 0, host: "${host}"`;
  const yaml = `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {${at}}}
  - {name: svc-http, config: {${at}}}
  - {name: svc-stream, config: {${at}, ${MEMORY}}}
  - {name: svc-console-api}
`;
  return startTestEngine({ yaml });
}

function urlOf({ urls }: TestEngine, scheme: string, nth = 0): URL {
  return new URL(urls.filter((url) => url.startsWith(scheme))[nth] ?? '');
}

onBothTransports('an engine', () => {
  test.each(['::1', '[::1]'])('[PD-43] listens on %s, and its addresses contain [::1]', async (host) => {
    await using engine = await startOn(host);
    for (const url of engine.urls) expect(new URL(url).hostname).toBe('[::1]');
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('any::get', (request) => ({ body: Reflect.get(Object(request), 'client_address') }));
    worker.send({
      ...{ type: 'registertrigger', id: 't', trigger_type: 'http', function_id: 'any::get' },
      config: { api_path: '/a', http_method: 'GET' },
    });
    await worker.settled();
    const answer = await fetch(new URL('/a', urlOf(engine, 'http')));
    expect(await answer.text()).toContain('0000:0000:0000:0000:0000:0000:0000:0001');
    await using stream = await StreamClient.connect(urlOf(engine, 'ws', 1).href, '/stream/chat/room');
    await stream.nextOf('sync');
  });
});

describe('programs next to an engine on the IPv6 loopback', () => {
  test.each(['::1', '[::1]'])('a console on %s reaches its HTTP port, its bridge and its stream port', async (host) => {
    await using engine = await startOn(host);
    const [enginePort, bridgePort, streamPort] = [
      Number(urlOf(engine, 'http').port),
      engine.port,
      Number(urlOf(engine, 'ws', 1).port),
    ];
    const console = await startConsole(
      {
        ...{ host, port: 0, engineHost: host, enginePort, streamPort, bridgePort },
        ...{ token: undefined, isReadOnly: false, hasFlow: false, serviceName: 'svc-console' },
      },
      () => {},
    );
    try {
      expect(new URL(console.url).hostname).toBe('[::1]');
      expect((await fetch(new URL('/api/status', console.url))).status).toBe(200);
      const asked = await fetch(new URL('/api/http-request', console.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ method: 'GET', path: '/healthz', headers: [] }),
      });
      expect(await asked.json()).toMatchObject({ status: 200 });
      await waitFor('its bridge is connected', async () => {
        const info: unknown = await (await fetch(new URL('/console.json', console.url))).json();
        return isConsoleInfo(info) && info.engine.connected;
      });
    } finally {
      await console.stop();
    }
  });

  test('the command line calls the engine by its address, and starts a console for it', {
    timeout: 60_000,
  }, async () => {
    await using engine = await startOn('::1');
    const called = await runSvc(['trigger', 'engine::health::check', '--url', engine.url]);
    expect(called).toMatchObject({ code: 0 });
    const ports = ['--port', '0', '--engine-port', urlOf(engine, 'http').port, '--bridge-port', String(engine.port)];
    for (const host of ['::1', '[::1]']) {
      const child = spawnSvc(['console', '--engine-host', host, ...ports]);
      let output = '';
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      const expected = `The engine is expected at http://[::1]:${urlOf(engine, 'http').port}`;
      await waitFor('the console prints the address of the engine', () => output.includes(expected), 20_000);
      const [, page = ''] = /(http:\/\/127\.0\.0\.1:\d+\/)/.exec(output) ?? [];
      expect((await fetch(new URL('/api/status', page))).status).toBe(200);
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    }
  });
});
