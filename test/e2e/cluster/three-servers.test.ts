// A cluster of engines on three servers of NATS, of which one is lost.

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import type { Bucket } from '../../../src/effects/nats/bucket.ts';
import { NatsConnection } from '../../../src/effects/nats/connection.ts';
import { clusterYaml, statusOf, waitForEngines, waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { leaderOf, type NatsCluster, startNatsCluster } from '../../support/cluster/nats-cluster.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

const yamlOn = ({ urls }: NatsCluster, prefix: string): string => clusterYaml({ nats: urls.join("', '"), prefix });

const logger = createLogger({ level: 'error', format: 'default', clock: systemClock, write: () => {} });

function openConnection({ urls }: NatsCluster): Promise<NatsConnection> {
  return NatsConnection.open({
    ...{ servers: urls, inboxPrefix: '_INBOX_svc', name: 'test', clock: systemClock, logger },
  });
}

/** Servers that have just started may elect a leader once more meanwhile. */
function agree(bucket: Bucket, key: string, value: string): Promise<string> {
  return waitFor('the servers have a leader', () => bucket.agree(key, value).catch(() => undefined), 60_000);
}

describe.skipIf(NO_NATS_SERVER)('engines on three servers of NATS', () => {
  test('[CL2] [CL15] calls are answered and registrations follow when the leader of a bucket is killed', {
    timeout: 180_000,
  }, async () => {
    await using nats = await startNatsCluster();
    const prefix = `t${randomUUID().slice(0, 8)}`;
    const yaml = yamlOn(nats, prefix);
    await using a = await startTestEngine({ yaml });
    await using b = await startTestEngine({ yaml });
    const caller = connect(a.url);
    const worker = connect(b.url);
    worker.registerFunction('far::one', () => 1);
    await waitForFunction(caller, 'far::one');
    await waitForEngines(caller, 1);
    expect((await statusOf(caller)).trouble).toBeUndefined();
    await nats.servers[await leaderOf(nats, `${prefix}_registry`)]?.stop();
    await waitFor(
      'calls are answered',
      async () => (await caller.trigger('far::one', {}).catch(() => 0)) === 1,
      90_000,
    );
    worker.registerFunction('far::two', () => 2);
    await waitFor(
      'a new function is known',
      async () => (await caller.trigger('far::two', {}).catch(() => 0)) === 2,
      90_000,
    );
  });

  test('[CL2] a bucket of the cluster is kept by three servers', { timeout: 120_000 }, async () => {
    await using nats = await startNatsCluster();
    const connection = await openConnection(nats);
    const bucket = await connection.bucket('three');
    expect([bucket.replicas, connection.isReplicated(bucket)]).toEqual([3, true]);
    await connection.close();
  });

  test('[CL5] of two engines that agree on a value at the same time, both have the same', {
    timeout: 180_000,
  }, async () => {
    await using nats = await startNatsCluster();
    const connections = [await openConnection(nats), await openConnection(nats)];
    const buckets = await Promise.all(connections.map((one) => one.bucket('race')));
    for (let round = 0; round < 200; round++) {
      const agreed = await Promise.all(
        buckets.map((bucket, index) => agree(bucket, `k.${round}`, `value of ${index}`)),
      );
      expect(new Set(agreed).size, `round ${round}: ${agreed.join(', ')}`).toBe(1);
    }
    await Promise.all(connections.map((one) => one.close()));
  });
});
