// Fault 61: clients append to lists of state, read them and enqueue jobs of FIFO groups through random engines of three,
// of which one is killed again and again. What they were answered has to be one history (M12 of the guarantees).

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SvcWorker } from '../../../src/sdk/index.ts';
import { sdkWorkers } from '../../e2e/sdk-workers.ts';
import { clusterYaml, waitForEngines } from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { freePort } from '../../support/free-port.ts';
import { CheckedHistory } from '../../support/load/checked-history.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const connect = sdkWorkers();
const ROUNDS = rounds(2);
const ENGINES = 3;
const CLIENTS = 12;
const LISTS = 4;
const GROUPS = 6;
const OPERATIONS = 300;

function modules(keyPrefix: string): string {
  const redis = `extstore_url: '${SHARED_REDIS}', key_prefix: '${keyPrefix}'`;
  return `  - name: svc-state
    config: {adapter: {name: extstore, config: {${redis}}}}
  - name: svc-queue
    config:
      queue_configs: {lines: {type: fifo, message_group_field: group, max_retries: 20}}
      adapter: {name: extstore, config: {${redis}, lease_ms: 2000}}
`;
}

interface Job {
  readonly group: string;
  readonly n: number;
}

/** What ran of one group, in the order in which it began. */
class Line {
  readonly #begun: number[] = [];
  readonly #ended = new Set<number>();
  /** A later job began before the one before it had ended. */
  readonly overtaken: string[] = [];

  begin({ group, n }: Job): void {
    if (!this.#begun.includes(n)) {
      const before = this.#begun.at(-1);
      if (before !== undefined && (before > n || !this.#ended.has(before))) {
        this.overtaken.push(`${group}: ${n} began after ${before}, ended: ${this.#ended.has(before)}`);
      }
      this.#begun.push(n);
    }
  }

  end({ n }: Job): void {
    this.#ended.add(n);
  }

  has(n: number): boolean {
    return this.#ended.has(n);
  }
}

describe.skipIf(NO_NATS_SERVER)('clients of random engines', () => {
  test('[fault 61] [S1] [Q1] [F2] see one history of state, and the jobs of each group in order', {
    timeout: 60_000 + ROUNDS * 60_000,
  }, async () => {
    const line = faultLine('61', 'checked history', 'contradictions=0,overtaken=0,lost=0');
    const random = faultRandom('61');
    const keyPrefix = newKeyPrefix();
    await using nats = await NatsServer.start();
    const yaml = clusterYaml({ nats: nats.url, prefix: `t${randomUUID().slice(0, 8)}`, workers: modules(keyPrefix) });
    const ports = await Promise.all(Array.from({ length: ENGINES }, () => freePort()));
    const start = (port: number): Promise<EngineProcess> =>
      EngineProcess.start(yaml.replace('config: {port: 0}', `config: {port: ${port}}`));
    const engines = await Promise.all(ports.map(start));
    const connections = ports.map((port) => connect(`ws://127.0.0.1:${port}`, { timeout_ms: 5_000 }));
    const any = (): SvcWorker => connections[random.below(ENGINES)] ?? connect(undefined);
    const lines = new Map(Array.from({ length: GROUPS }, (_, group) => [`g${group}`, new Line()]));
    for (const connection of connections) {
      connection.registerFunction('lines::run', (job: Job) => {
        lines.get(job.group)?.begin(job);
        lines.get(job.group)?.end(job);
      });
      await waitForEngines(connection, ENGINES - 1);
    }
    const history = new CheckedHistory();
    const receipts: Job[] = [];
    let [left, done] = [OPERATIONS * CLIENTS * ROUNDS, 0];
    const client = async (name: string): Promise<void> => {
      for (let n = 0; left-- > 0; n++) {
        const key = `k${random.below(LISTS)}`;
        const begunMs = performance.now();
        const isRead = random.below(3) === 0;
        const operation = isRead ? read(any(), key) : append(any(), key, `${name}-${n}`);
        await operation.then(
          (list) => {
            done++;
            const span = { key, list, begunMs, endedMs: performance.now() };
            if (isRead) history.reads.push(span);
            else history.appends.push({ ...span, item: `${name}-${n}` });
          },
          // Whether it was carried out is unknown.
          () => new Promise((resolve) => setTimeout(resolve, 20)),
        );
      }
    };
    const producer = async (group: string): Promise<void> => {
      for (let n = 0; left > 0; n++) {
        const action = { type: 'enqueue', queue: 'lines' } as const;
        const taken = any().trigger({ function_id: 'lines::run', payload: { group, n }, action });
        await taken.then(
          () => void receipts.push({ group, n }),
          () => {},
        );
      }
    };
    const work = Promise.all([
      ...Array.from({ length: CLIENTS }, (_, index) => client(`c${index}`)),
      ...[...lines.keys()].map((group) => producer(group)),
    ]);
    for (let round = 0; round < ROUNDS; round++) {
      const goal = done + (OPERATIONS * CLIENTS) / 3;
      await waitFor('operations are done', () => done >= goal || left <= 0, 30_000);
      const victim = random.below(ENGINES);
      engines[victim]?.kill('SIGKILL');
      await engines[victim]?.ended;
      engines[victim] = await start(ports[victim] ?? 0);
    }
    await work;
    const reader = connections[0] ?? connect(undefined);
    const waiting = () => receipts.filter(({ group, n }) => lines.get(group)?.has(n) !== true);
    await waitFor('all jobs have run', () => waiting().length === 0, 40_000).catch(() => {});
    const keys = Array.from({ length: LISTS }, (_, list) => `k${list}`);
    const final = new Map(await Promise.all(keys.map(async (key) => [key, await read(reader, key)] as const)));
    const contradictions = history.contradictions(final);
    const overtaken = [...lines.values()].flatMap((one) => one.overtaken);
    line.figure = `contradictions=${contradictions.length},overtaken=${overtaken.length},lost=${waiting().length}`;
    expect(history.appends.length).toBeGreaterThan(OPERATIONS);
    expect(receipts.length).toBeGreaterThan(GROUPS);
    expect([...contradictions, ...overtaken, ...waiting()]).toEqual([]);
    await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
    await removeKeys(keyPrefix);
  });
});

interface Stored {
  /** A text would be appended to a text. */
  readonly list: readonly { readonly item: string }[];
}

async function append(worker: SvcWorker, key: string, item: string): Promise<readonly string[]> {
  const ops = [{ type: 'append', path: 'list', value: { item } }];
  const { new_value: after } = await worker.trigger<unknown, { new_value: Stored }>({
    ...{ function_id: 'state::update', payload: { scope: 'checked', key, ops } },
  });
  return after.list.map((entry) => entry.item);
}

async function read(worker: SvcWorker, key: string): Promise<readonly string[]> {
  const stored = await worker.trigger<unknown, Stored | null>({
    ...{ function_id: 'state::get', payload: { scope: 'checked', key } },
  });
  return (stored?.list ?? []).map(({ item }) => item);
}
