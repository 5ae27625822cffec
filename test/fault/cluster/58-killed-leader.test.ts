// Fault 58: kill -9 of the server of NATS that leads a bucket, under calls, schedules and registrations (M5 of the
// guarantees, with JetStream).

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sdkWorkers } from '../../e2e/sdk-workers.ts';
import { clusterYaml, waitForEngines, waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { leaderOf, startNatsCluster } from '../../support/cluster/nats-cluster.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds } from '../../support/load/fault-tools.ts';
import { waitFor } from '../../support/wait-for.ts';

const connect = sdkWorkers();
/** Twenty in the long form. */
const ROUNDS = Math.ceil(rounds(5) / 5);
const RESUME_MS_MAX = 30_000;

describe.skipIf(NO_NATS_SERVER)('three servers of NATS of which the leader is killed', () => {
  test('[fault 58] [CL22] [CL15] calls are answered and ticks run again, and no tick runs twice', {
    timeout: 120_000 + ROUNDS * 90_000,
  }, async () => {
    const line = faultLine('58', 'killed leader of JetStream', `twice=0,resume<=${RESUME_MS_MAX}ms`);
    await using nats = await startNatsCluster();
    const prefix = `t${randomUUID().slice(0, 8)}`;
    const yaml = clusterYaml({ nats: nats.urls.join("', '"), prefix, workers: '  - name: svc-cron\n' });
    await using a = await startTestEngine({ yaml });
    await using b = await startTestEngine({ yaml });
    const moments: string[] = [];
    const workers = [connect(a.url), connect(b.url)];
    for (const worker of workers) {
      worker.registerFunction('clock::tick', ({ scheduled_time: at }: { scheduled_time: string }) => {
        moments.push(at);
      });
      worker.registerTrigger({ type: 'cron', function_id: 'clock::tick', config: { expression: '* * * * * *' } });
    }
    const [near, far] = [connect(a.url), connect(b.url)];
    far.registerFunction('far::one', () => 1);
    await waitForFunction(near, 'far::one');
    await waitForEngines(near, 1);
    let [callsMs, ticksMs, registrationMs] = [0, 0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const before = moments.length;
      await waitFor('ticks run', () => moments.length > before + 1, RESUME_MS_MAX);
      const bucket = `${prefix}_${round % 2 === 0 ? 'ticks' : 'registry'}`;
      const leader = nats.servers[await leaderOf(nats, bucket)];
      await leader?.stop();
      const killedMs = performance.now();
      const isAnswered = async () => (await near.trigger('far::one', {}).catch(() => 0)) === 1;
      await waitFor('calls are answered', isAnswered, RESUME_MS_MAX);
      callsMs = Math.max(callsMs, performance.now() - killedMs);
      const atKill = moments.length;
      far.registerFunction(`far::of_round_${round}`, () => 2);
      const isRegistered = waitFor(
        'a function that was registered after the kill is called',
        async () => (await near.trigger(`far::of_round_${round}`, {}).catch(() => 0)) === 2,
        RESUME_MS_MAX,
      ).then(() => {
        registrationMs = Math.max(registrationMs, performance.now() - killedMs);
      });
      await waitFor('ticks run again', () => moments.length > atKill + 1, RESUME_MS_MAX);
      ticksMs = Math.max(ticksMs, performance.now() - killedMs);
      await isRegistered;
      await leader?.start();
    }
    const twice = moments.length - new Set(moments).size;
    line.figure = `twice=${twice},calls=${Math.round(callsMs)}ms,ticks=${Math.round(ticksMs)}ms,registrations=${Math.round(registrationMs)}ms`;
    expect(twice).toBe(0);
  });
});
