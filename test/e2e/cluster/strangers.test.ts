// What a restricted connection of one engine may not take from trusted workers of another.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

const PORT_FOR_PAGES = `  - {name: svc-pubsub}
  - name: svc-worker-manager
    config: {port: 0, rbac: {auth_function_id: 'auth', expose_functions: ['match("pay::*")']}}
`;

/** A connection of the restricted port of the engine, which its own worker admits. */
async function connectPage(urls: readonly string[], grant: object = {}): Promise<RawWorker> {
  const trusted = connect(urls[0]);
  const answer = { allow_function_registration: true, ...grant };
  trusted.registerFunction('auth', () => answer);
  // Until this engine has it, the one of another engine answers.
  await waitFor('its own engine admits the page', async () => {
    const given = await trusted.trigger('auth', {}).catch(() => undefined);
    return JSON.stringify(given) === JSON.stringify(answer);
  });
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

  test('[CL32] offers its functions to callers of all engines', async () => {
    await using pair = await startClusterPair({ workers: PORT_FOR_PAGES });
    await using page = await connectPage(pair.b.urls);
    await page.serve('pay::page', () => 'page');
    const far = connect(pair.a.url);
    await waitForFunction(far, 'pay::page');
    expect(await far.trigger('pay::page', {})).toBe('page');
    page.close();
    await waitFor('it is gone with the page', async () => {
      const error = await far.trigger('pay::page', {}).catch(({ code }) => code);
      return error === 'function_not_found';
    });
  });

  test('[CL32] [X9] runs no job of trusted workers of other engines', async () => {
    const keys = newKeyPrefix();
    const adapter = `{name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${keys}'}}`;
    const queue = `  - {name: svc-queue, config: {queue_configs: {paid: {}}, adapter: ${adapter}}}\n`;
    await using pair = await startClusterPair({ workers: `${PORT_FOR_PAGES}${queue}` });
    await using page = await connectPage(pair.b.urls);
    const onPage: unknown[] = [];
    await page.serve('pay::charge', (data) => void onPage.push(data));
    const far = connect(pair.a.url);
    await waitForFunction(far, 'pay::charge');
    const action = { type: 'enqueue', queue: 'paid' } as const;
    await far.trigger({ function_id: 'pay::charge', payload: 'job', action });
    // A job that waits has been looked at by both engines when one of a trusted function has run.
    const marks: unknown[] = [];
    far.registerFunction('own::mark', (data: unknown) => void marks.push(data));
    await far.trigger({ function_id: 'own::mark', payload: 'mark', action });
    await waitFor('the next job has run', () => marks.length === 1);
    await far.trigger('pay::charge', 'direct');
    expect(onPage).toEqual(['direct']);
    const ran: unknown[] = [];
    connect(pair.b.url).registerFunction('pay::charge', (data: unknown) => void ran.push(data));
    await waitFor('a trusted worker runs it', () => ran.length === 1);
    expect(ran).toEqual(['job']);
    await removeKeys(keys);
  });

  test('[CL32] [X9] gets those of functions below the prefix that it was granted', async () => {
    await using pair = await startClusterPair({ workers: PORT_FOR_PAGES });
    await using page = await connectPage(pair.b.urls, { function_registration_prefix: 'pay::tenant' });
    const heard: unknown[] = [];
    await page.serve('orders', (data) => void heard.push(data));
    const far = connect(pair.a.url);
    await waitForFunction(far, 'pay::tenant::orders');
    const subscription = { type: 'subscribe', function_id: 'pay::tenant::orders', config: { topic: 'paid' } } as const;
    await far.registerTrigger(subscription).ready();
    await far.trigger('publish', { topic: 'paid', data: 1 });
    await waitFor('the page heard of it', () => heard.length === 1);
  });

  test('[CL32] [X9] loses a function to the connection of another engine that was granted its prefix', async () => {
    await using pair = await startClusterPair({ workers: PORT_FOR_PAGES });
    await using stranger = await connectPage(pair.b.urls);
    stranger.send({ type: 'registerfunction', id: 'pay::tenant::orders' });
    const far = connect(pair.a.url);
    await waitForFunction(far, 'pay::tenant::orders');
    await using tenant = await connectPage(pair.a.urls, { function_registration_prefix: 'pay::tenant' });
    await tenant.serve('orders', () => 'tenant');
    expect(await stranger.next('registrationrejected')).toMatchObject({ function_id: 'pay::tenant::orders' });
    stranger.send({ type: 'registerfunction', id: 'pay::tenant::orders' });
    expect(await stranger.next('registrationrejected')).toMatchObject({ function_id: 'pay::tenant::orders' });
    expect(await connect(pair.b.url).trigger('pay::tenant::orders', {})).toBe('tenant');
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
