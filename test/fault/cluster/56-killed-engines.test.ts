// Fault 56: kill -9 of one of three engines, again and again, under calls, jobs and writes of state (M1 of the
// guarantees, with NATS and Redis).

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { clusterYaml, statusOf } from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { freePort } from '../../support/free-port.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(3);
const ENGINES = 3;
const WRITERS = 8;
/** Until all calls of all callers are answered again, and until all engines list the same functions. */
const RESUME_MS_MAX = 10_000;

function modules(keyPrefix: string): string {
  const redis = `extstore_url: '${SHARED_REDIS}', key_prefix: '${keyPrefix}'`;
  return `  - name: svc-state
    config: {adapter: {name: extstore, config: {${redis}}}}
  - name: svc-queue
    config:
      queue_configs: {mail: {max_retries: 5, concurrency: 8}}
      adapter: {name: extstore, config: {${redis}, lease_ms: 2000}}
`;
}

/** What clients were answered, to compare with what is there in the end. */
class Ledger {
  readonly receipts = new Set<string>();
  readonly ran = new Map<string, number>();
  readonly written = new Map<string, number>();
  #isOver = false;

  /** Writes and enqueues until `stop`. An error proves nothing: the next number is tried. */
  async write(client: SvcWorker, name: string): Promise<void> {
    for (let number = 1; !this.#isOver; number++) {
      await client.state
        .set('fault', name, number)
        .then(() => this.written.set(name, number))
        .catch(() => {});
      const job = `${name}-${number}`;
      await client
        .trigger({
          ...{ function_id: 'fault::job', payload: { job } },
          action: { type: 'enqueue', queue: 'mail' },
        })
        .then(() => this.receipts.add(job))
        .catch(() => {});
    }
  }

  stop(): void {
    this.#isOver = true;
  }
}

async function functionsAt(client: SvcWorker): Promise<string> {
  const { functions } = await client.trigger<unknown, { functions: { function_id: string }[] }>({
    function_id: 'engine::functions::list',
  });
  const names = functions.map(({ function_id: id }) => id).filter((id) => !/^(engine|svc|state|stream)::/.test(id));
  return names.sort().join();
}

describe.skipIf(NO_NATS_SERVER)('three engines of which one is killed', () => {
  test('[fault 56] [Q1] [S1] [CL3] [CL23] lose no job and no write that was acknowledged, and serve again', {
    timeout: 120_000 + ROUNDS * 60_000,
  }, async () => {
    const line = faultLine('56', 'killed engines', `lost=0,resume<=${RESUME_MS_MAX}ms`);
    const random = faultRandom('56');
    const keyPrefix = newKeyPrefix();
    await using nats = await NatsServer.start();
    const yaml = clusterYaml({
      ...{ nats: nats.url, prefix: `t${randomUUID().slice(0, 8)}`, workers: modules(keyPrefix) },
    });
    const ports = await Promise.all(Array.from({ length: ENGINES }, () => freePort()));
    const start = (port: number): Promise<EngineProcess> =>
      EngineProcess.start(yaml.replace('config: {port: 0}', `config: {port: ${port}}`));
    const engines = await Promise.all(ports.map(start));
    const urls = ports.map((port) => `ws://127.0.0.1:${port}`);
    /** Each begins at another engine. */
    const clients = urls.map((_, index) =>
      registerWorker([...urls.slice(index), ...urls.slice(0, index)].join(), {
        ...{ handle_signals: false, timeout_ms: 5_000, log: () => {} },
      }),
    );
    const ledger = new Ledger();
    const names = clients.map((client, index) => {
      client.registerFunction(`fault::at${index}`, () => index);
      client.registerFunction('fault::job', ({ job }: { job: string }) => {
        ledger.ran.set(job, (ledger.ran.get(job) ?? 0) + 1);
      });
      return `fault::at${index}`;
    });
    let [resumeMs, registryMs] = [0, 0];
    const allAnswer = async (): Promise<boolean> => {
      const calls = clients.flatMap((client) =>
        names.map((name) => client.trigger({ function_id: name, payload: {}, timeout_ms: 1_000 })),
      );
      return (await Promise.allSettled(calls)).every(({ status }) => status === 'fulfilled');
    };
    const areEqual = async (): Promise<boolean> => {
      const lists = await Promise.all(clients.map((client) => functionsAt(client).catch(() => '')));
      return lists.every((list) => list === lists[0] && names.every((name) => list.includes(name)));
    };
    try {
      await waitFor('all functions are known', allAnswer, 30_000);
      const writers = clients.flatMap((client, index) =>
        Array.from({ length: WRITERS }, (_, writer) => ledger.write(client, `w${index}-${writer}`)),
      );
      for (let round = 0; round < ROUNDS; round++) {
        const goal = ledger.receipts.size + random.between(100, 400);
        await waitFor('jobs are taken', () => ledger.receipts.size >= goal, 30_000);
        const victim = random.below(ENGINES);
        engines[victim]?.kill('SIGKILL');
        const killedMs = performance.now();
        await waitFor('all calls are answered', allAnswer, RESUME_MS_MAX);
        resumeMs = Math.max(resumeMs, performance.now() - killedMs);
        await waitFor('all engines list the same functions', areEqual, RESUME_MS_MAX);
        registryMs = Math.max(registryMs, performance.now() - killedMs);
        await engines[victim]?.ended;
        engines[victim] = await start(ports[victim] ?? 0);
        const upAt = async (client: SvcWorker) =>
          (await statusOf(client)).engines.filter(({ status }) => status === 'up' || status === 'here').length;
        await waitFor(
          'three engines are up',
          async () => (await Promise.all(clients.map(upAt))).every((count) => count === ENGINES),
          30_000,
        );
      }
      ledger.stop();
      await Promise.all(writers);
      const missing = () => [...ledger.receipts].filter((job) => !ledger.ran.has(job));
      await waitFor('all jobs have run', () => missing().length === 0, 90_000).catch(() => {});
      const [client] = clients;
      const stale: string[] = [];
      for (const [key, number] of ledger.written) {
        const value = await client?.state.get<number>('fault', key);
        if ((value ?? 0) < number) stale.push(key);
      }
      const again = [...ledger.ran.values()].filter((count) => count > 1).length;
      const lost = missing().length + stale.length;
      line.figure =
        `lost=${lost},jobs=${ledger.receipts.size},again=${again},` +
        `resume=${Math.round(resumeMs)}ms,registry=${Math.round(registryMs)}ms`;
      expect(missing()).toEqual([]);
      expect(ledger.written.size).toBe(clients.length * WRITERS);
      expect(stale).toEqual([]);
    } finally {
      ledger.stop();
      await Promise.all(clients.map((client) => client.shutdown()));
      await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
      await removeKeys(keyPrefix);
    }
  });
});
