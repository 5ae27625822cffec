// Traces and logs of engines of one cluster, asked at one of them.

import { describe, expect, test } from 'vitest';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import type { TelemetryAnswers } from '../../../src/telemetry/functions/definition.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { waitForEngines, waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { type ClusterPair, startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { freePort } from '../../support/free-port.ts';
import { sendCounter } from '../../support/telemetry/observability-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

type CallsAnswer = TelemetryAnswers['engine::metrics::calls'];
type MetricsAnswer = TelemetryAnswers['engine::metrics::list'];
type LogHistogram = TelemetryAnswers['engine::logs::histogram'];
type Groups = TelemetryAnswers['engine::traces::group_by'];
type Rollups = TelemetryAnswers['engine::rollups::list'];
type Facet = TelemetryAnswers['engine::traces::facets']['facets'][number];

const connect = sdkWorkers();
const OBSERVED = {
  workers: '  - {name: svc-observability, config: {enabled: true, exporter: memory, metrics_enabled: true}}\n',
};

interface Tree {
  readonly name: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly children: readonly Tree[];
}

interface Answer {
  readonly spans: readonly Tree[];
  readonly roots: readonly Tree[];
  readonly logs: readonly { body: string; log_id: number; engine?: string }[];
  readonly runs: readonly { trace_id: string; span_id: string }[];
  readonly total: number;
  readonly missing_engines?: readonly { engine: string; reason: string }[];
}

const ask = (worker: SvcWorker, id: string, payload: object = {}): Promise<Answer> =>
  worker.trigger({ function_id: id, payload });

function namesOf(trees: readonly Tree[]): string[] {
  return trees.flatMap(({ name, children }) => [name, ...namesOf(children)]);
}

/** A function on A that calls one on B, once called. */
async function callOverBoth({ a, b }: ClusterPair) {
  const [near, far] = [connect(a.url), connect(b.url)];
  far.registerFunction('far::price', (_input: unknown, { logger }) => {
    logger.info('priced on B');
    return 7;
  });
  await waitForFunction(near, 'far::price');
  await waitForEngines(near, 1);
  near.registerFunction('near::order', async (_input: unknown, { logger }) => {
    logger.info('ordered on A');
    return await near.trigger('far::price', {});
  });
  expect(await near.trigger('near::order', {})).toBe(7);
  return { near, far };
}

describe.skipIf(NO_NATS_SERVER)('traces and logs of two engines', () => {
  test('[CL30] a trace over both is one row and one tree, at either engine', async () => {
    await using pair = await startClusterPair(OBSERVED);
    const { near, far } = await callOverBoth(pair);
    for (const worker of [near, far]) {
      let trees: readonly Tree[] = [];
      await waitFor('the trace is whole', async () => {
        const { spans, total } = await ask(worker, 'engine::traces::list', { name: 'near::order' });
        const [row] = spans;
        if (row === undefined || total !== 1) return false;
        ({ roots: trees } = await ask(worker, 'engine::traces::tree', { trace_id: row.trace_id }));
        return trees.length === 1 && namesOf(trees).some((name) => name.includes('far::price'));
      });
      expect(namesOf(trees)[0]).toContain('near::order');
    }
  });

  test('[CL30] runs and logs are listed together, with the total of both', async () => {
    await using pair = await startClusterPair(OBSERVED);
    const { near, far } = await callOverBoth(pair);
    await waitFor('the run of B is listed at A', async () => {
      const { runs, total } = await ask(near, 'engine::traces::runs', { function_id: 'far::price' });
      return runs.length === 1 && total === 1;
    });
    const bodies = async (worker: SvcWorker): Promise<string> =>
      (await ask(worker, 'engine::logs::search', { query: 'on', order: 'asc' })).logs.map(({ body }) => body).join();
    for (const worker of [near, far]) {
      await waitFor('both records are listed', async () => (await bodies(worker)).includes('ordered on A,priced on B'));
    }
    const { logs } = await ask(near, 'engine::logs::search', { query: 'priced' });
    const { engine, log_id } = logs[0] ?? {};
    expect(engine).toEqual(expect.any(String));
    const around = await ask(near, 'engine::logs::context', { log_id, engine });
    expect(around.logs.map(({ body }) => body)).toContain('priced on B');
    await expect(ask(near, 'engine::logs::context', { log_id, engine: 'none' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  test('[CL30] counts of calls, log levels and facets are those of both', async () => {
    await using pair = await startClusterPair(OBSERVED);
    const { near, far } = await callOverBoth(pair);
    for (const worker of [near, far]) {
      await waitFor('the calls of both are counted', async () => {
        const { functions, total } = await worker.trigger<unknown, CallsAnswer>('engine::metrics::calls', {});
        const calls = new Map(functions.map((row) => [row.function_id, row]));
        const counted = [calls.get('near::order')?.calls, calls.get('far::price')?.calls];
        return JSON.stringify(counted) === '[1,1]' && total.calls >= 2 && calls.get('far::price')?.p50_ms !== null;
      });
      await waitFor('the metrics of both are listed', async () => {
        const { engine_metrics: all } = await worker.trigger<unknown, MetricsAnswer>('engine::metrics::list', {});
        const { by_function: calls } = all.invocations;
        return calls['near::order'] === 1 && calls['far::price'] === 1 && all.performance.p50_duration_ms > 0;
      });
      await waitFor('the records of both are counted', async () => {
        const { buckets } = await worker.trigger<unknown, LogHistogram>('engine::logs::histogram', {
          search: 'ordered OR priced',
        });
        return buckets.reduce((sum, { counts }) => sum + counts.INFO, 0) >= 2;
      });
      await waitFor('the attributes of both are listed', async () => {
        const { facets } = await worker.trigger<unknown, { facets: Facet[] }>('engine::traces::facets', {});
        const values = facets.flatMap((facet) => facet.values.map(({ value }) => value));
        return ['near::order', 'far::price'].every((id) => values.includes(id));
      });
      await waitFor('the spans of both are grouped', async () => {
        const asked = { attribute: 'function_id', parts: 2, since_ms: Date.now() - 60_000 };
        const { groups } = await worker.trigger<unknown, Groups>('engine::traces::group_by', asked);
        const counts = new Map(groups.map(({ value, span_count: count }) => [value, count]));
        return counts.has('near::order') && counts.has('far::price');
      });
    }
  });

  test('[CL30] metrics of the workers of both are rolled up in one row', async () => {
    await using pair = await startClusterPair(OBSERVED);
    await using near = await RawWorker.connect(pair.a.url);
    await using far = await RawWorker.connect(pair.b.url);
    await waitForEngines(connect(pair.a.url), 1);
    sendCounter(near, 'shop.orders', 4, Date.now());
    sendCounter(far, 'shop.orders', 5, Date.now());
    for (const worker of [near, far]) {
      await waitFor('the points of both are rolled up', async () => {
        const { result } = await worker.call('engine::rollups::list', { level: 2, metric_name: 'shop.orders' });
        const { rollups } = result as Rollups;
        return rollups.length === 1 && rollups[0]?.count === 2 && rollups[0].sum === 9;
      });
    }
  });

  test('[CL30] pages of the merged list neither repeat nor skip a trace', async () => {
    await using pair = await startClusterPair(OBSERVED);
    const [near, far] = [connect(pair.a.url), connect(pair.b.url)];
    await waitForEngines(near, 1);
    near.registerFunction('near::one', () => 1);
    far.registerFunction('far::one', () => 1);
    for (let count = 0; count < 10; count++) {
      await near.trigger('near::one', {});
      await far.trigger('far::one', {});
    }
    const list = (offset: number, limit: number) =>
      ask(near, 'engine::traces::list', { name: '::one', offset, limit, sort_order: 'desc' });
    await waitFor('all are stored', async () => (await list(0, 100)).total === 20);
    const all = (await list(0, 100)).spans.map(({ trace_id: id }) => id);
    const pages = await Promise.all([0, 7, 14].map((offset) => list(offset, 7)));
    expect(pages.flatMap(({ spans }) => spans.map(({ trace_id: id }) => id))).toEqual(all);
    expect(new Set(all).size).toBe(20);
    await expect(list(9_990, 20)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });

  test('[CL30] names an engine that does not answer', async () => {
    await using pair = await startClusterPair(OBSERVED);
    const { near } = await callOverBoth(pair);
    await pair.nats.stop();
    await waitFor('the other engine is missing', async () => {
      const { missing_engines: missing = [] } = await ask(near, 'engine::traces::list', {});
      return missing.length === 1 && missing[0]?.reason.includes('ENGINE_UNREACHABLE') === true;
    });
  });
});

describe.skipIf(NO_NATS_SERVER)('workers of two engines', () => {
  interface Worker {
    readonly id: string;
    readonly name: string;
    readonly engine?: string;
  }
  interface Info {
    readonly worker: Worker;
    readonly functions: readonly { readonly function_id: string }[];
    readonly engine?: string;
  }

  test('[CL30] are listed and described at either engine', async () => {
    await using pair = await startClusterPair();
    const [near, far] = [connect(pair.a.url, { worker_name: 'near' }), connect(pair.b.url, { worker_name: 'far' })];
    near.registerFunction('near::order', () => 1);
    far.registerFunction('far::price', () => 7);
    await waitForFunction(near, 'far::price');
    await waitForEngines(near, 1);
    const list = () => near.trigger<unknown, { workers: Worker[] }>('engine::workers::list', {});
    const named = (workers: readonly Worker[], name: string) => workers.filter((worker) => worker.name === name);
    const { workers } = await waitFor('both have said their name', async () => {
      const answer = await list();
      return named(answer.workers, 'near').length === 1 && named(answer.workers, 'far').length === 1 && answer;
    });
    const [[own], [other]] = [named(workers, 'near'), named(workers, 'far')];
    expect(own).not.toHaveProperty('engine');
    expect(other?.engine).toEqual(expect.any(String));
    // The modules of one engine, and not those of both.
    expect(named(workers, 'svc-engine-functions')).toHaveLength(1);
    const info = await near.trigger<unknown, Info>('engine::workers::info', { worker_id: other?.id });
    expect(info).toMatchObject({ engine: other?.engine, functions: [{ function_id: 'far::price' }] });
    const unknown = near.trigger('engine::workers::info', { worker_id: 'no-such-worker' });
    await expect(unknown).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('[CL30] are in the list of the console', async () => {
    const port = await freePort();
    const http = `  - {name: svc-http, config: {port: ${port}, host: 127.0.0.1}}\n`;
    await using pair = await startClusterPair({ workers: http }, {});
    const far = connect(pair.b.url, { worker_name: 'far' });
    far.registerFunction('far::price', () => 7);
    await waitForFunction(connect(pair.a.url), 'far::price');
    const read = async <Answer>(path: string): Promise<Answer> =>
      JSON.parse(await (await fetch(`http://127.0.0.1:${port}/_console/v1/${path}`)).text());
    const row = await waitFor('the console lists it', async () => {
      const { items } = await read<{ items: readonly Worker[] }>('workers');
      return items.find(({ name }) => name === 'far');
    });
    expect(row.engine).toEqual(expect.any(String));
    expect(await read(`workers/${row.id}`)).toMatchObject({
      ...{ name: 'far', engine: row.engine },
      function_rows: [{ function_id: 'far::price' }],
    });
  });
});

describe.skipIf(NO_NATS_SERVER)('an alert rule of two engines', () => {
  test('[CL36] compares the sum of both, and acts once', async () => {
    const rule = `{name: failures, metric: svc.invocations.error, threshold: 5, operator: '>', window_seconds: 60,
        cooldown_seconds: 600, action: {type: function, path: 'alerts::note'}}`;
    await using pair = await startClusterPair({
      workers: `  - name: svc-observability
    config: {enabled: true, exporter: memory, alerts: [${rule}]}
`,
    });
    const workers = [connect(pair.a.url), connect(pair.b.url)];
    const noted: { value: number }[] = [];
    workers[1]?.registerFunction('alerts::note', (alert: { value: number }) => void noted.push(alert));
    for (const [index, worker] of workers.entries()) {
      worker.registerFunction(`fails::at${index}`, () => Promise.reject(new Error('always')));
      await waitForEngines(worker, 1);
      await waitForFunction(worker, 'alerts::note');
      for (let call = 0; call < 4; call++) await worker.trigger(`fails::at${index}`, {}).catch(() => {});
    }
    for (const worker of workers) await worker.trigger('engine::alerts::evaluate', {});
    for (const worker of workers) {
      const { alerts } = await worker.trigger<unknown, { alerts: { firing: boolean; current_value: number }[] }>({
        ...{ function_id: 'engine::alerts::list', payload: {} },
      });
      expect(alerts).toMatchObject([{ firing: true, current_value: 8 }]);
    }
    await waitFor('the alert has arrived', () => noted.length > 0);
    expect(noted).toMatchObject([{ value: 8 }]);
  });
});
