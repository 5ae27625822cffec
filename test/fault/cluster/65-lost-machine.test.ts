// Fault 65: the network of a machine loses all packets: between its engine and NATS, Redis and all other engines.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sdkWorkers } from '../../e2e/sdk-workers.ts';
import {
  clusterYaml,
  codeOf,
  statusOf,
  waitForEngines,
  waitForFunction,
} from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { Network, networkRefusal } from '../../support/cluster/network.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { freePort } from '../../support/free-port.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { isSkipped, rounds } from '../../support/load/fault-tools.ts';
import { NO_REDIS_SERVER, RedisServer } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const connect = sdkWorkers();
const ROUNDS = rounds(1);
const RESUME_MS_MAX = 7_000;
const LEASE_MS = 2_000;
const JOBS = 60;
const WORKER = join(import.meta.dirname, '../../support/cluster/machine-worker-main.ts');

const refusal = NO_NATS_SERVER ?? NO_REDIS_SERVER ?? networkRefusal();

test.skipIf(isSkipped('65', refusal))(
  '[fault 65] [CL9] [CL13] [CL25] calls go to other engines, its jobs run there, and it is back by itself',
  {
    timeout: 60_000 + ROUNDS * 120_000,
  },
  async () => {
    const line = faultLine('65', 'lost machine', `lost=0,resume<=${RESUME_MS_MAX}ms`);
    using network = new Network();
    await using machine = network.addMachine();
    await using nats = await NatsServer.start({ host: network.here });
    await using redis = await RedisServer.start(network.here);
    const queue = `queue_configs: {mail: {concurrency: 4}}`;
    const yaml = clusterYaml({
      nats: nats.url,
      prefix: `t${randomUUID().slice(0, 8)}`,
      workers: `  - {name: svc-queue, config: {${queue}, adapter: {name: redis, config: {redis_url: '${redis.url}', lease_ms: ${LEASE_MS}}}}}\n`,
    }).replace('cluster: {nats:', 'cluster: {accept_weaker: true, nats:');
    await using near = await EngineProcess.start(yaml);
    await using other = await EngineProcess.start(yaml);
    const port = await freePort();
    await using lost = await EngineProcess.start(yaml.replace('port: 0', `port: ${port}`), {
      entrance: machine.entrance,
    });
    const [caller, worker] = [connect(near.url), connect(other.url)];
    const ran: unknown[] = [];
    worker.registerFunction('shared::where', () => 'here');
    await worker.registerFunction('shared::job', (job: unknown) => void ran.push(job)).ready();
    await machine.run(WORKER, `ws://127.0.0.1:${port}`);
    let [resumeMs, jobsMs] = [0, 0];
    let jobs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      await waitForFunction(caller, 'there::ran');
      await waitForEngines(caller, 2);
      const places = new Set<unknown>();
      await waitFor('calls go to both', async () => places.add(await caller.trigger('shared::where', {})).size === 2);
      const before = (await caller.trigger<unknown, unknown[]>('there::ran', {})).length;
      for (let n = 0; n < JOBS; n++) {
        await caller.trigger({
          ...{ function_id: 'shared::job', payload: jobs++ },
          action: { type: 'enqueue', queue: 'mail' },
        });
      }
      await waitFor(
        'it runs jobs',
        async () => (await caller.trigger<unknown, unknown[]>('there::ran', {})).length > before,
      );
      machine.cut();
      const cutMs = performance.now();
      // Eight at a time, until each of them has been answered by the engine that is left.
      let failedMs = cutMs;
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (let answered = 0; answered < 500; ) {
            const code = await codeOf(caller.trigger('shared::where', {}));
            if (code === 'answered') answered++;
            else [answered, failedMs] = [0, performance.now()];
          }
        }),
      );
      resumeMs = Math.max(resumeMs, failedMs - cutMs);
      const isAlone = async () => (await statusOf(caller)).engines.filter(({ status }) => status === 'up').length === 1;
      await waitFor('the others give it up', isAlone, 15_000);
      const depth = async () => {
        const stats = await caller.trigger<unknown, { depth: number }>('engine::queue::topic_stats', { topic: 'mail' });
        return stats.depth;
      };
      await waitFor('its jobs have run elsewhere', async () => (await depth()) === 0, 10 * LEASE_MS);
      jobsMs = Math.max(jobsMs, performance.now() - cutMs);
      machine.reconnect();
      await waitFor(
        'others reach it',
        async () => (await codeOf(caller.trigger('there::ran', {}))) === 'answered',
        30_000,
      );
      await waitForEngines(caller, 2);
      const all = async () => new Set([...ran, ...(await caller.trigger<unknown, unknown[]>('there::ran', {}))]);
      await waitFor('every job has run', async () => (await all()).size === jobs, 30_000);
    }
    line.figure = `lost=0,resume=${Math.round(resumeMs)}ms,jobs=${Math.round(jobsMs)}ms`;
    expect(resumeMs).toBeLessThan(RESUME_MS_MAX);
    expect(lost.stderr).not.toMatch(/ ERROR /);
  },
);
