// Three servers of NATS that form a cluster, as processes on loopback.

import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { freePort } from '../free-port.ts';
import { waitFor } from '../wait-for.ts';
import { NatsServer } from './nats-server.ts';

export interface NatsCluster extends AsyncDisposable {
  readonly servers: readonly NatsServer[];
  /** For the setting `servers`. */
  readonly urls: readonly string[];
}

const ELECTION_MS_MAX = 30_000;

export async function startNatsCluster(size = 3): Promise<NatsCluster> {
  const routePorts = await Promise.all(Array.from({ length: size }, () => freePort()));
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`).join(', ');
  const servers = await Promise.all(
    routePorts.map((port, index) => {
      const cluster = `cluster {name: test, listen: "127.0.0.1:${port}", routes: [${routes}]}`;
      return NatsServer.start({ more: `server_name: n${index}\n${cluster}` });
    }),
  );
  return {
    servers,
    urls: servers.map(({ url }) => url),
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

/** The index of the server that leads the stream of that bucket. */
export async function leaderOf({ urls }: NatsCluster, bucket: string): Promise<number> {
  const connection = await connect({ servers: [...urls] });
  try {
    const leader = await waitFor(
      'the bucket has a leader',
      async () => {
        try {
          const { cluster } = await (await jetstreamManager(connection)).streams.info(`KV_${bucket}`);
          return cluster?.leader;
        } catch {
          // JetStream has no leader yet.
          return undefined;
        }
      },
      ELECTION_MS_MAX,
    );
    return Number(leader.slice(1));
  } finally {
    await connection.close();
  }
}
