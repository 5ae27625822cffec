// Fault 2, the part of triggers that name a queue (S5, PD-54): an engine that is killed between a change and its job,
// wherever the queue lies. Every acknowledged change becomes a job at least once.

import { afterAll, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { statsOf } from '../../support/stores/queue-engine.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(3);

const keyPrefix = newKeyPrefix();

afterAll(() => removeKeys(keyPrefix));

const PLACES = ['one folder', 'two folders', 'a Redis', 'a Redis and a folder'] as const;

function yamlFor(how: (typeof PLACES)[number], folder: string): string {
  const redis = (more = ''): string =>
    `{name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${keyPrefix}${how.length}:'${more}}}`;
  const state = how.includes('Redis') ? redis() : `{name: kv, config: {file_path: ${folder}}}`;
  const queue = how === 'one folder' ? folder : `${folder}/queue`;
  return `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-state
    config: {adapter: ${state}}
  - name: svc-queue
    config:
      queue_configs: {changes: {concurrency: 4}}
      adapter: ${how === 'a Redis' ? redis(', lease_ms: 1000') : `{name: builtin, config: {file_path: ${queue}}}`}
`;
}

test.each(PLACES)(
  '[S5] [fault 2] After kill -9 every acknowledged change has become a job: %s',
  {
    timeout: 20_000 + ROUNDS * 20_000,
  },
  async (how) => {
    const line = faultLine('2', `kill with changes of ${how}`, 'lost=0');
    using folder = new TemporaryFolder();
    const random = faultRandom('2');
    const text = yamlFor(how, folder.path);
    const made = new Set<number>();
    const seen = new Set<number>();
    let next = 0;
    const serve = (worker: RawWorker): Promise<unknown> =>
      worker.serve('changed', (data) => seen.add((data as { new_value: number }).new_value));
    for (let round = 0; round < ROUNDS; round++) {
      await using engine = await EngineProcess.start(text);
      await using worker = await RawWorker.connect(engine.url);
      await serve(worker);
      worker.send({
        type: 'registertrigger',
        id: 't1',
        trigger_type: 'state',
        function_id: 'changed',
        config: { queue: 'changes' },
      });
      await worker.settled();
      const goal = made.size + random.between(50, 600);
      for (let writer = 0; writer < 16; writer++) {
        const write = (value: number): void => {
          worker.call('state::set', { scope: 's', key: `k${writer}`, value }).then(
            ({ error }) => {
              if (error === undefined) made.add(value);
              write(next++);
            },
            // Killed: whether the change was made is unknown.
            () => {},
          );
        };
        write(next++);
      }
      await waitFor('the writers are at work', () => made.size >= goal, 15_000);
      engine.kill('SIGKILL');
      await engine.end(5_000);
    }
    await using engine = await EngineProcess.start(text);
    await using worker = await RawWorker.connect(engine.url);
    await serve(worker);
    const lost = (): number[] => [...made].filter((value) => !seen.has(value));
    await waitFor(
      'nothing waits',
      async () => lost().length === 0 && (await statsOf(worker, 'changes')).depth === 0,
      30_000,
    );
    line.figure = `lost=${lost().length}`;
    expect(lost()).toEqual([]);
  },
);
