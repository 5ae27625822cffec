// `svc http` as a process, against a real engine.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpEngine, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { runSvc } from './cli-process.ts';

let engine: HttpEngine;
let worker: RawWorker;

beforeAll(async () => {
  engine = await startHttpEngine();
  worker = await RawWorker.connect(engine.url);
  await worker.serve('any::one', (data) => ({ status_code: 201, headers: { 'x-a': 'b' }, body: data }));
  for (const http_method of ['GET', 'POST']) {
    const config = { api_path: '/a/:id', http_method };
    worker.send({ type: 'registertrigger', id: http_method, trigger_type: 'http', function_id: 'any::one', config });
  }
  await worker.settled();
});

afterAll(async () => {
  worker.close();
  await engine.drain();
});

function svc(...args: string[]) {
  return runSvc(['http', ...args], { env: { SVC_HTTP_URL: engine.httpUrl } });
}

test('pairs become the query of GET and the JSON body of POST; the answer goes to stdout', async () => {
  const got = await svc('get', 'a/7', 'limit=10', 'tag[]=x', 'tag[]=y', '--header', 'x-mine: 1');
  expect(JSON.parse(got.stdout)).toMatchObject({
    path_params: { id: '7' },
    query_params: { limit: '10', tag: ['x', 'y'] },
    headers: { 'x-mine': '1' },
  });
  expect(got).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/✔ 201 .* request=[0-9a-f]{32} {2}trace=[0-9a-f]{32}/),
  });
  const posted = await svc('POST', '/a/7', 'sku=a1', 'qty:=2');
  expect(JSON.parse(posted.stdout)).toMatchObject({ body: { sku: 'a1', qty: 2 } });
});

test('-i shows status and headers, --json one document', async () => {
  expect((await svc('GET', '/a/7', '-i')).stdout).toMatch(/^HTTP 201 Created\n[\s\S]*x-a: b\n[\s\S]*\n\n\{/);
  const { stdout } = await svc('GET', '/a/7', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ status: 201, headers: { 'x-a': 'b' }, body: { path: '/a/:id' } });
});

test('[CLI-4] the exit code shows the kind of failure', async () => {
  const none = await svc('GET', '/none');
  expect(none).toMatchObject({ code: 3, stdout: expect.stringContaining('NOT_FOUND') });
  expect(none.stderr).not.toContain('trace=');
  expect(await svc('DELETE', '/a/7')).toMatchObject({ code: 1 });
  expect(await svc('G-T', '/a/7')).toMatchObject({ code: 2 });
  expect(await svc('GET', '/a/7', '--http-url', 'http://127.0.0.1:9')).toMatchObject({ code: 5 });
});
