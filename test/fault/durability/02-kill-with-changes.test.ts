// Fault 2, the part of triggers that name a queue (S5, PD-54): an engine that is killed between a change and its job,
// wherever the queue lies. Every acknowledged change becomes a job at least once.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import { statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(3);

const yaml = (state: string, queue: string): string => `drain_timeout_ms: 100
workers:
  - name: svc-worker-manager
    config: {port: 0}
  - name: svc-state
    config: {adapter: {name: kv, config: {file_path: ${state}}}}
  - name: svc-queue
    config: {queue_configs: {changes: {concurrency: 4}}, adapter: {name: builtin, config: {file_path: ${queue}}}}
`;

test.each(['one folder', 'two folders'])(
  '[S5] [fault 2] After kill -9 every acknowledged change has become a job: %s',
  {
    timeout: 20_000 + ROUNDS * 20_000,
  },
  async (how) => {
    const line = faultLine('2', `kill with changes of ${how}`, 'lost=0');
    using folder = new TemporaryFolder();
    const random = faultRandom('2');
    const text = yaml(folder.path, how === 'one folder' ? folder.path : `${folder.path}/queue`);
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
      15_000,
    );
    line.figure = `lost=${lost().length}`;
    expect(lost()).toEqual([]);
  },
);
