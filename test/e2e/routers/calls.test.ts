// Several router threads in one process: to its clients the engine is one, whichever router has their connection.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { WorkerProcess } from '../../support/engine/worker-process.ts';
import { waitFor } from '../../support/wait-for.ts';

const YAML = `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
modules:
  - name: svc-state
    config: {adapter: {name: kv, config: {store_method: in_memory}}}
  - name: svc-queue
    config: {adapter: {name: builtin, config: {store_method: in_memory}}}
  - name: svc-pubsub
`;

/** So many that every router has some of them. */
const WORKERS = 12;
/** Together more than the buffers of a connection. */
const VOID_CALLS = 20;
/** A busy machine is slow with megabytes. */
const WAIT_MS_MAX = 30_000;
const KIB_64 = 'x'.repeat(64 * 1024);

async function connectAll(url: string): Promise<RawWorker[]> {
  return await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(url)));
}

describe('two routers', () => {
  test('[RO3] every worker reaches the functions of every other', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    const workers = await connectAll(engine.url);
    await Promise.all(workers.map((worker, at) => worker.serve(`f::${at}`, (data) => ({ at, data }))));
    for (const [from, worker] of workers.entries()) {
      const answers = await Promise.all(workers.map((_, at) => worker.call(`f::${at}`, { from })));
      expect(answers.map(({ result }) => result)).toEqual(workers.map((_, at) => ({ at, data: { from } })));
    }
    const [worker] = workers;
    if (worker === undefined) throw new Error('no worker');
    const { result } = await worker.call('engine::workers::list', {});
    const { workers: rows } = result as { workers: { runtime: string }[] };
    const listed = rows.filter(({ runtime }) => runtime !== 'engine');
    expect(listed).toHaveLength(WORKERS);
    for (const one of workers) one.close();
  });

  test('[RO3] [V1] calls without a caller that no worker got are counted as dropped, whichever router they came to', async () => {
    const limits = 'outbound_buffer_bytes: 1048576, in_flight_per_worker: 100000';
    await using engine = await startTestEngine({ yaml: `limits: {trusted: {${limits}}}\n${YAML}`, threads: 2 });
    await using stuck = await WorkerProcess.start(engine.url, 'stuck::one', 'answers');
    const callers = await connectAll(engine.url);
    stuck.kill('SIGSTOP');
    for (const caller of callers) {
      for (let n = 0; n < VOID_CALLS; n++) {
        caller.send({ type: 'invokefunction', function_id: 'stuck::one', data: KIB_64, action: { type: 'void' } });
      }
      await caller.settled();
    }
    stuck.kill('SIGCONT');
    const dropped = () => engine.counters.get('invocations.void_dropped', 'OVERLOADED');
    let looks = 0;
    const isEachAccountedFor = async () => {
      const result = (await callers[0]?.call('stuck::one'))?.result;
      if (result !== undefined) looks++;
      return result !== undefined && Number(result) - looks + dropped() === WORKERS * VOID_CALLS;
    };
    await waitFor('each was run or is counted', isEachAccountedFor, WAIT_MS_MAX);
    expect(dropped()).toBeGreaterThan(0);
    for (const one of callers) one.close();
  });

  test('[RO6] every worker reaches the functions of the engine, and gets their refusals', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    const workers = await connectAll(engine.url);
    const answers = await Promise.all(
      workers.map((worker, at) => worker.call('state::set', { scope: 's', key: `${at}`, value: { at } })),
    );
    expect(answers.map(({ error }) => error)).toEqual(workers.map(() => undefined));
    const read = await Promise.all(workers.map((one, at) => one.call('state::get', { scope: 's', key: `${at}` })));
    expect(read.map(({ result }) => result)).toEqual(workers.map((_, at) => ({ at })));
    const refused = await Promise.all(workers.map((worker) => worker.call('state::get', { scope: 7 })));
    expect(new Set(refused.map(({ error }) => (error as { code: string }).code))).toEqual(
      new Set(['deserialization_error']),
    );
    const unknown = await Promise.all(workers.map((worker) => worker.call('no::such', {})));
    expect(new Set(unknown.map(({ error }) => (error as { code: string }).code))).toEqual(
      new Set(['function_not_found']),
    );
    for (const one of workers) one.close();
  });

  test('[RO5] a trigger of a worker fires, wherever the change is made', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    const workers = await connectAll(engine.url);
    const seen: string[] = [];
    for (const [at, worker] of workers.entries()) {
      await worker.serve(`on::${at}`, (data) => {
        seen.push(`${at} ${(data as { key: string }).key}`);
        return null;
      });
      worker.send({
        ...{ type: 'registertrigger', id: `t${at}`, trigger_type: 'state', function_id: `on::${at}` },
        config: { scope: `s${at}` },
      });
      await worker.settled();
    }
    const [first] = workers;
    for (const at of workers.keys()) await first?.call('state::set', { scope: `s${at}`, key: 'k', value: 1 });
    await waitFor('all have fired', () => seen.length === WORKERS);
    expect(seen.sort()).toEqual([...workers.keys()].map((at) => `${at} k`).sort());
    for (const one of workers) one.close();
  });

  test('[RO5] a trigger that the engine refuses is refused on every router', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    const workers = await connectAll(engine.url);
    const refusals = await Promise.all(
      workers.map(async (worker, at) => {
        worker.send({
          ...{ type: 'registertrigger', id: `bad${at}`, trigger_type: 'state', function_id: 'on::any' },
          config: { scope: 7 },
        });
        return await worker.next('triggerregistrationresult');
      }),
    );
    expect(new Set(refusals.map(({ error }) => (error as { code: string }).code))).toEqual(
      new Set(['trigger_registration_failed']),
    );
    for (const one of workers) one.close();
  });

  test('[RO6] a job runs, wherever it is enqueued', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    const workers = await connectAll(engine.url);
    const ran: unknown[] = [];
    await workers[0]?.serve('job', (data) => {
      ran.push(data);
      return null;
    });
    const receipts = await Promise.all(
      workers.map((worker, at) => worker.call('job', { at }, { action: { type: 'enqueue', queue: 'default' } })),
    );
    expect(receipts.map(({ error }) => error)).toEqual(workers.map(() => undefined));
    await waitFor('all have run', () => ran.length === WORKERS);
    for (const one of workers) one.close();
  });

  test('[RO4] what a connection registered is known to all others after its ping', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    const workers = await connectAll(engine.url);
    for (const [at, worker] of workers.entries()) {
      worker.send({ type: 'registerfunction', id: `new::${at}` });
      await worker.settled();
      const calls = workers.map((one) => one.startCall(`new::${at}`, {}));
      for (const _ of workers) worker.answer(await worker.next('invokefunction'), { result: at });
      const answers = await Promise.all(workers.map((one, from) => one.answerTo(calls[from] ?? '')));
      expect(answers.map(({ result }) => result)).toEqual(workers.map(() => at));
    }
    for (const one of workers) one.close();
  });

  test('[RO4] a function that is gone is unknown on every router', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    const workers = await connectAll(engine.url);
    const [first] = workers;
    if (first === undefined) throw new Error('no worker');
    await first.serve('old', () => 1);
    first.send({ type: 'unregisterfunction', id: 'old' });
    await first.settled();
    const answers = await Promise.all(workers.map((one) => one.call('old', {})));
    expect(new Set(answers.map(({ error }) => (error as { code: string }).code))).toEqual(
      new Set(['function_not_found']),
    );
    for (const one of workers) one.close();
  });

  test('[RO3] a lost worker ends the calls that it ran for the other router', async () => {
    await using engine = await startTestEngine({ yaml: YAML, threads: 2 });
    const workers = await connectAll(engine.url);
    const [first, ...others] = workers;
    if (first === undefined) throw new Error('no worker');
    await first.register('slow');
    const calls = others.map((one) => one.startCall('slow', {}));
    for (const _ of others) await first.next('invokefunction');
    first.socket.terminate();
    const answers = await Promise.all(others.map((one, at) => one.answerTo(calls[at] ?? '')));
    expect(new Set(answers.map(({ error }) => (error as { code: string }).code))).toEqual(
      new Set(['invocation_stopped']),
    );
    for (const one of others) one.close();
  });
});
