// What a restricted connection of one engine may not take from trusted workers of another.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

const PORT_FOR_PAGES = `  - name: svc-worker-manager
    config: {port: 0, rbac: {auth_function_id: 'auth', expose_functions: ['match("pay::*")']}}
`;

/** A connection of the restricted port of the engine, which its own worker admits. */
async function connectPage(urls: readonly string[]): Promise<RawWorker> {
  connect(urls[0]).registerFunction('auth', () => ({ allow_function_registration: true }));
  let page: RawWorker | undefined;
  await waitFor('the page is admitted', async () => {
    page = await RawWorker.connect(String(urls[1]), { subprotocols: ['svc.json.v1'] }).catch(() => undefined);
    return page !== undefined;
  });
  if (page === undefined) throw new Error('The page was not admitted');
  return page;
}

describe.skipIf(NO_NATS_SERVER)('a restricted connection of another engine', () => {
  test('[CL20] [X9] cannot take the function of a trusted worker', async () => {
    await using pair = await startClusterPair({ workers: PORT_FOR_PAGES });
    connect(pair.a.url).registerFunction('pay::charge', () => 'trusted');
    await waitForFunction(connect(pair.b.url), 'pay::charge');
    await using page = await connectPage(pair.b.urls);
    page.send({ type: 'registerfunction', id: 'pay::charge' });
    expect(await page.next('registrationrejected')).toMatchObject({ function_id: 'pay::charge' });
    expect(await connect(pair.b.url).trigger('pay::charge', {})).toBe('trusted');
  });

  test('[CL20] [X9] cannot take it while the worker is away, nor after all engines were replaced', async () => {
    await using pair = await startClusterPair({ workers: PORT_FOR_PAGES });
    const worker = connect(pair.a.url);
    worker.registerFunction('pay::charge', () => 'trusted');
    await waitForFunction(connect(pair.b.url), 'pay::charge');
    await worker.shutdown();
    await Promise.all([pair.a.drain(), pair.b.drain()]);
    await using later = await startTestEngine({ yaml: pair.yaml });
    await using page = await connectPage(later.urls);
    page.send({ type: 'registerfunction', id: 'pay::charge' });
    expect(await page.next('registrationrejected')).toMatchObject({ function_id: 'pay::charge' });
  });

  test('[CL20] [X9] loses a function that a trusted worker of another engine offers from now on', async () => {
    await using pair = await startClusterPair({ workers: PORT_FOR_PAGES });
    await using page = await connectPage(pair.b.urls);
    page.send({ type: 'registerfunction', id: 'pay::charge' });
    await waitForFunction(connect(pair.b.url), 'pay::charge');
    connect(pair.a.url).registerFunction('pay::charge', () => 'trusted');
    expect(await page.next('registrationrejected')).toMatchObject({ function_id: 'pay::charge' });
    const caller = connect(pair.b.url);
    await waitFor('the trusted one answers', async () => (await caller.trigger('pay::charge', {})) === 'trusted');
  });

  test('[CL20] shares no function with other engines', async () => {
    await using pair = await startClusterPair({ workers: PORT_FOR_PAGES });
    await using page = await connectPage(pair.b.urls);
    page.send({ type: 'registerfunction', id: 'pay::page' });
    const near = connect(pair.b.url);
    await waitForFunction(near, 'pay::page');
    near.registerFunction('pay::marker', () => 1);
    const far = connect(pair.a.url);
    await waitForFunction(far, 'pay::marker');
    await expect(far.trigger('pay::page', {})).rejects.toMatchObject({ code: 'function_not_found' });
  });

  test('[CL20] reaches a function of another engine only where the rules of its port expose it', async () => {
    await using pair = await startClusterPair({ workers: PORT_FOR_PAGES });
    const worker = connect(pair.a.url);
    worker.registerFunction('pay::open', () => 'open');
    worker.registerFunction('books::secret', () => 'secret');
    await waitForFunction(connect(pair.b.url), 'books::secret');
    await using page = await connectPage(pair.b.urls);
    expect(await page.call('pay::open', {})).toMatchObject({ result: 'open' });
    expect(await page.call('books::secret', {})).toMatchObject({ error: { code: 'FORBIDDEN' } });
  });
});
