// What the health says about the cluster, where the process has several routers.

import { expect, test } from 'vitest';
import { PRESSURE } from '../../../../src/core/limits/pressure.ts';
import { clusterHealth } from '../../../../src/modules/engine/cluster.ts';
import type { ClusterView } from '../../../../src/modules/module.ts';
import type { RouterLoad } from '../../../../src/router/context.ts';
import { RouterPort } from '../../../../src/router/port.ts';
import { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';

const LOAD: RouterLoad = {
  workers: { connected: 0, active: 0 },
  connections: 0,
  callsInFlight: 0,
  pressure: { level: PRESSURE.normal, name: 'normal', cause: undefined },
};

const CLUSTER: ClusterView = {
  trouble: undefined,
  away: undefined,
  status: () => ({ engines: [] }),
  keys: () => Promise.reject(new Error('not asked')),
  triggers: () => Promise.reject(new Error('not asked')),
};

test('[CL38] is degraded while a further router cannot reach the other engines', () => {
  const { context } = new EngineInMemory();
  const router = new RouterPort(context);
  context.furtherRouters.set(1, LOAD);
  expect(clusterHealth({ cluster: CLUSTER, router })).toMatchObject({ status: 'healthy' });
  context.furtherRouters.set(2, { ...LOAD, clusterTrouble: 'NATS is away' });
  expect(clusterHealth({ cluster: CLUSTER, router })).toMatchObject({
    status: 'degraded',
    details: { reason: 'NATS is away' },
  });
});
