// Two engines of one cluster inside the process of the test, with a NATS of their own.

import { randomUUID } from 'node:crypto';
import { startTestEngine, type TestEngine } from '../engine/test-engine.ts';
import { type ClusterEngineOptions, clusterYaml } from './cluster-engines.ts';
import { NatsServer } from './nats-server.ts';

export interface ClusterPair extends AsyncDisposable {
  readonly nats: NatsServer;
  readonly a: TestEngine;
  readonly b: TestEngine;
  /** The configuration of one more engine. */
  readonly yaml: string;
}

type More = Omit<ClusterEngineOptions, 'nats' | 'prefix'>;

export async function startClusterPair(ofA: More = {}, ofB: More = ofA): Promise<ClusterPair> {
  const nats = await NatsServer.start();
  const cluster = { nats: nats.url, prefix: `t${randomUUID().slice(0, 8)}` };
  const a = await startTestEngine({ yaml: clusterYaml({ ...cluster, ...ofA }) });
  const b = await startTestEngine({ yaml: clusterYaml({ ...cluster, ...ofB }) });
  return {
    nats,
    yaml: clusterYaml({ ...cluster, ...ofA }),
    a,
    b,
    async [Symbol.asyncDispose]() {
      await Promise.all([a.drain(), b.drain()]);
      await nats[Symbol.asyncDispose]();
    },
  };
}
