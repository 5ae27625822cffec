// A page binds a route whose handler never answers, and requests it until every turn of the HTTP port is taken.

import { expect, test } from 'vitest';
import { ask, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage } from '../restricted-page.ts';

test('Requests to routes of pages use up half as many turns of their own, and none of trusted routes', async () => {
  await using engine = await startHttpEngine('concurrency_request_limit: 4', {
    workers: ['{name: svc-worker-manager, config: {port: 0, rbac: {allow_trigger_types: [http]}}}'],
  });
  await using worker = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  await worker.serve('orders::list', () => ({ status_code: 200, body: 'ours' }));
  await page.register('hang');
  const route = { type: 'registertrigger', trigger_type: 'http' };
  worker.send({ ...route, id: 'ours', function_id: 'orders::list', config: { api_path: '/orders' } });
  page.send({ ...route, id: 'theirs', function_id: 'hang', config: { api_path: '/hang' } });
  await Promise.all([worker.settled(), page.settled()]);
  const statuses: number[] = [];
  const asked = Array.from({ length: 12 }, () => ask(engine, '/hang').then(({ status }) => statuses.push(status)));
  // Two are handled, and two wait.
  await waitFor('the others are refused', () => statuses.length === 8);
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(await ask(engine, '/orders')).toMatchObject({ status: 200, text: '"ours"' });
  const running = page.frames.filter(({ type }) => type === 'invokefunction');
  expect(running).toHaveLength(2);
  for (const call of running) page.answer(call, { result: { status_code: 200 } });
  for (let waited = 0; waited < 2; waited++) {
    const later = await page.next('invokefunction', (frame) => !running.includes(frame));
    page.answer(later, { result: { status_code: 200 } });
  }
  await Promise.all(asked);
  expect(statuses.filter((status) => status === 200)).toHaveLength(4);
});
