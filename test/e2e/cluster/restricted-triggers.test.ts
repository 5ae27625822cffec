// Triggers of connections of restricted ports, and events that happen at other engines.

import { describe, expect, test } from 'vitest';
import { waitForEngines, waitForFunction, waitForTriggers } from '../../support/cluster/cluster-engines.ts';
import { type ClusterPair, startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { freePort } from '../../support/free-port.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

const pagesEntry = (types: string): string => `  - name: svc-worker-manager
    config: {port: 0, name: pages, rbac: {expose_functions: ['match("open::*")'], allow_trigger_types: [${types}]}}
`;

const httpEntry = (port: number): string => `  - name: svc-http\n    config: {port: ${port}, host: 127.0.0.1}\n`;

interface PagePair extends ClusterPair {
  /** Of the restricted port of A. */
  readonly pages: string;
}

async function startPair(types: string, more: string): Promise<PagePair> {
  const pair = await startClusterPair({ workers: pagesEntry(types) + more });
  return { ...pair, pages: String(pair.a.urls[1]) };
}

/** With state and a queue in a Redis of both. */
async function startSharedPair(types: string) {
  const prefix = newKeyPrefix();
  const store = `adapter: {name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${prefix}'}}`;
  const queue = `  - name: svc-queue\n    config: {queue_configs: {changes: {}}, ${store}}\n`;
  const pair = await startPair(types, `  - name: svc-state\n    config: {${store}}\n${queue}`);
  return {
    pair,
    async [Symbol.asyncDispose]() {
      await pair[Symbol.asyncDispose]();
      await removeKeys(prefix);
    },
  };
}

const EVENTS = '  - {name: svc-pubsub}\n';

describe.skipIf(NO_NATS_SERVER)('a trigger of a restricted connection', () => {
  test('[CL32] has its route on the ports of all engines', async () => {
    const [portA, portB] = [await freePort(), await freePort()];
    const entry = pagesEntry('http');
    const [ofA, ofB] = [{ workers: entry + httpEntry(portA) }, { workers: entry + httpEntry(portB) }];
    await using pair = await startClusterPair(ofA, ofB);
    const page = connect(String(pair.a.urls[1]));
    page.registerFunction('page::show', ({ path_params: { id } }: { path_params: { id: string } }) => ({
      body: { id },
    }));
    const trigger = page.registerTrigger({
      ...{ type: 'http', function_id: 'page::show' },
      config: { api_path: 'pages/:id', http_method: 'GET' },
    });
    const far = `http://127.0.0.1:${portB}/pages/7`;
    await waitFor('the route is there', async () => (await fetch(far)).status === 200);
    expect(await (await fetch(far)).json()).toEqual({ id: '7' });
    trigger.unregister();
    await waitFor('the route has ended', async () => (await fetch(far)).status === 404);
  });

  test('[CL32] gets the events of all engines, each once', async () => {
    await using pair = await startPair('subscribe', EVENTS);
    const got: unknown[] = [];
    const page = connect(pair.pages);
    page.registerFunction('page::news', (event: unknown) => void got.push(event));
    page.registerTrigger({ type: 'subscribe', function_id: 'page::news', config: { topic: 'news' } });
    for (const url of [pair.a.url, pair.b.url]) {
      const publisher = connect(url);
      await waitForEngines(publisher, 1);
      await waitForTriggers(publisher, 1);
      got.length = 0;
      for (let n = 0; n < 10; n++) await publisher.trigger('publish', { topic: 'news', data: { n } });
      await waitFor('all have arrived', () => got.length >= 10);
      await publisher.trigger('page::news', 'last');
      expect(got).toHaveLength(11);
    }
  });

  test('[CL32] [X7] calls what its port exposes, on whichever engine, and nothing else', async () => {
    await using pair = await startPair('subscribe', EVENTS);
    const called: string[] = [];
    const trusted = connect(pair.b.url);
    trusted.registerFunction('open::hear', () => void called.push('open::hear'));
    const near = connect(pair.a.url);
    await waitForFunction(near, 'open::hear');
    const page = connect(pair.pages);
    // It may bind its own function, which a trusted worker takes from it later.
    page.registerFunction('page::mine', () => void called.push('page::mine'));
    page.registerTrigger({ type: 'subscribe', function_id: 'page::mine', config: { topic: 'news' } });
    page.registerTrigger({ type: 'subscribe', function_id: 'open::hear', config: { topic: 'news' } });
    const publisher = connect(pair.b.url);
    await waitForTriggers(publisher, 2);
    const publish = () => publisher.trigger('publish', { topic: 'news', data: {} });
    await publish();
    await waitFor('both were called', () => called.length === 2);
    expect(called.toSorted()).toEqual(['open::hear', 'page::mine']);
    trusted.registerFunction('page::mine', () => void called.push('taken'));
    await waitFor('the trusted worker has it, as the engine of the page knows', async () => {
      // While the name changes hands, no engine may have it for a moment.
      await near.trigger('page::mine', {}).catch(() => {});
      return called.at(-1) === 'taken';
    });
    called.length = 0;
    await publish();
    await waitFor('the exposed one was called', () => called.includes('open::hear'));
    const rows = async () =>
      (
        await publisher.trigger<unknown, { registered_triggers: { function_id: string; error?: string }[] }>(
          'engine::registered-triggers::list',
          {},
        )
      ).registered_triggers;
    await waitFor('the other one was refused', async () =>
      (await rows()).some(({ function_id: id, error }) => id === 'page::mine' && error?.includes('FORBIDDEN') === true),
    );
    expect(called).toEqual(['open::hear']);
  });

  test('[CL32] hears of a change of state in a shared Redis, whichever engine makes it', async () => {
    const prefix = newKeyPrefix();
    const store = `adapter: {name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${prefix}'}}`;
    await using pair = await startPair('state', `  - name: svc-state\n    config: {${store}}\n`);
    const got: unknown[] = [];
    const page = connect(pair.pages);
    page.registerFunction('page::changed', (event: unknown) => void got.push(event));
    page.registerTrigger({ type: 'state', function_id: 'page::changed', config: { scope: 'stock' } });
    const writer = connect(pair.b.url);
    await waitForFunction(writer, 'page::changed');
    await waitForTriggers(writer, 1);
    for (let n = 0; n < 10; n++) await writer.trigger('state::set', { scope: 'stock', key: 'b', value: n });
    await waitFor('all have arrived', () => got.length >= 10);
    await writer.trigger('page::changed', 'last');
    expect(got).toHaveLength(11);
    await removeKeys(prefix);
  });

  test.each(['near', 'far'])(
    '[CL32] gets jobs of changes from its queue, wherever they are made and run: %s',
    async (place) => {
      await using shared = await startSharedPair('state');
      const { pair } = shared;
      const got: { new_value: number }[] = [];
      const page = connect(pair.pages);
      page.registerFunction('page::changed', (event: { new_value: number }) => void got.push(event));
      page.registerTrigger({
        ...{ type: 'state', function_id: 'page::changed' },
        config: { scope: 'stock', queue: 'changes' },
      });
      const writer = connect(place === 'near' ? pair.a.url : pair.b.url);
      await waitForEngines(writer, 1);
      await waitForFunction(writer, 'page::changed');
      await waitForTriggers(writer, 1);
      for (let n = 0; n < 20; n++) await writer.trigger('state::set', { scope: 'stock', key: 'b', value: n });
      await waitFor('all have arrived', () => got.length >= 20, 30_000);
      expect(got.map(({ new_value: value }) => value).toSorted((one, other) => one - other)).toEqual(
        Array.from({ length: 20 }, (_, n) => n),
      );
      expect(await writer.trigger('engine::queue::topic_stats', { topic: 'changes' })).toMatchObject({ dlq_depth: 0 });
    },
  );

  test('[CL32] gets a copy of each message of its topic, wherever it is published', async () => {
    await using shared = await startSharedPair("'durable:subscriber'");
    const { pair } = shared;
    const got: { n: number }[] = [];
    const page = connect(pair.pages);
    page.registerFunction('page::news', (event: { n: number }) => void got.push(event));
    page.registerTrigger({ type: 'durable:subscriber', function_id: 'page::news', config: { topic: 'news' } });
    const publishers = [connect(pair.a.url), connect(pair.b.url)];
    for (const publisher of publishers) {
      await waitForEngines(publisher, 1);
      await waitForTriggers(publisher, 1);
      await waitForFunction(publisher, 'page::news');
    }
    for (let n = 0; n < 20; n++)
      await publishers[n % 2]?.trigger('svc::durable::publish', { topic: 'news', data: { n } });
    await waitFor('all have arrived', () => got.length >= 20, 30_000);
    expect(got.map(({ n }) => n).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    );
  });

  test('[CL32] calls functions of the engine no more often than its connection may send messages', async () => {
    await using pair = await startPair('subscribe', EVENTS);
    const page = connect(pair.pages);
    // Lists leave out triggers of the engine's own functions: the second one is seen.
    page.registerFunction('page::news', () => undefined);
    for (const functionId of ['engine::baggage::get_all', 'page::news']) {
      page.registerTrigger({ type: 'subscribe', function_id: functionId, config: { topic: 'news' } });
    }
    const publisher = connect(pair.b.url);
    await waitForTriggers(publisher, 1);
    const sent = Array.from({ length: 800 }, (_, n) => publisher.trigger('publish', { topic: 'news', data: { n } }));
    await Promise.all(sent);
    await waitFor('some were refused', () => pair.a.counters.get('triggers.rate_limited') > 0);
  });
});
