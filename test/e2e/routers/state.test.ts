// State with several routers: each goes to the thread of the store itself while no trigger listens to changes.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

/** So many that every router has some of them. */
const WORKERS = 12;
const ROUNDS = 25;

function withStateIn(folder: string): string {
  return `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
modules:
  - name: svc-state
    config: {adapter: {name: kv, config: {store_method: file_based, file_path: ${folder}}}}
`;
}

async function connectAll(url: string): Promise<RawWorker[]> {
  return await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(url)));
}

interface Change {
  readonly old_value: number | null;
  readonly new_value: number;
}

describe('state of two routers', () => {
  test('[RO15] increments of workers on both end at exactly their number', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startTestEngine({ yaml: withStateIn(folder.path), threads: 2 });
    const workers = await connectAll(engine.url);
    const ops = [{ type: 'increment', path: 'n', by: 1 }];
    const increments = Array.from({ length: ROUNDS }, () => workers).flat();
    const answers = await Promise.all(
      increments.map((worker) => worker.call('state::update', { scope: 's', key: 'k', ops })),
    );
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
    const read = await Promise.all(workers.map((worker) => worker.call('state::get', { scope: 's', key: 'k' })));
    expect(read.map(({ result }) => result)).toEqual(workers.map(() => ({ n: increments.length })));
    for (const one of workers) one.close();
  });

  test('[RO15] [RO5] a trigger fires for each change after it was added, and for none after it was removed', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startTestEngine({ yaml: withStateIn(folder.path), threads: 2 });
    const workers = await connectAll(engine.url);
    const seen: string[] = [];
    for (const [at, listener] of workers.entries()) {
      const changeAll = (moment: string): Promise<unknown> =>
        Promise.all(
          workers.map((one, by) => one.call('state::set', { scope: `${at}`, key: `${moment} ${by}`, value: 1 })),
        );
      await changeAll('before');
      await listener.serve(`on::${at}`, (data) => {
        seen.push((data as { key: string }).key);
        return null;
      });
      const config = { scope: `${at}` };
      listener.send({ type: 'registertrigger', id: 't', trigger_type: 'state', function_id: `on::${at}`, config });
      await listener.settled();
      await changeAll('during');
      await waitFor('each change has fired', () => seen.length === WORKERS);
      listener.send({ type: 'unregistertrigger', id: 't' });
      await listener.settled();
      await changeAll('after');
      expect(seen.splice(0).sort()).toEqual([...workers.keys()].map((by) => `during ${by}`).sort());
    }
    for (const one of workers) one.close();
  });

  test('[RO15] calls of a connection take effect in their order while a trigger comes and goes', async () => {
    using folder = new TemporaryFolder();
    await using engine = await startTestEngine({ yaml: withStateIn(folder.path), threads: 2 });
    const workers = await connectAll(engine.url);
    const [listener, ...writers] = workers;
    if (listener === undefined) throw new Error('no worker');
    await listener.serve('on::any', () => null);
    const ids = new Map(writers.map((writer) => [writer, [] as string[]]));
    const values = Array.from({ length: 8 * ROUNDS }, (_, value) => value);
    for (const value of values) {
      // Without waiting for an answer.
      for (const [by, writer] of writers.entries()) {
        ids.get(writer)?.push(writer.startCall('state::set', { scope: 's', key: `${by}`, value }));
      }
      if (value % 10 !== 5) continue;
      const isThere = value % 20 === 15;
      const trigger = { type: 'registertrigger', trigger_type: 'state', function_id: 'on::any', config: {} };
      listener.send(isThere ? { type: 'unregistertrigger', id: 't' } : { ...trigger, id: 't' });
      await listener.settled();
    }
    for (const writer of writers) {
      const answers = await Promise.all((ids.get(writer) ?? []).map((id) => writer.answerTo(id)));
      const changes = answers.map(({ result }) => result as Change);
      expect(changes.map((change) => change.old_value)).toEqual([null, ...values.slice(0, -1)]);
    }
    for (const one of workers) one.close();
  });
});
