import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY_KINDS, SharedKeys } from '../../../src/cluster/shared-keys.ts';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { NatsConnection } from '../../../src/effects/nats/connection.ts';
import type { TickClaims } from '../../../src/modules/cron/claims.ts';
import { clusterClaims } from '../../../src/modules/cron/cluster-claims.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { claim, testTickClaims } from './tick-claims-contract.ts';

const logger = createLogger({ level: 'error', format: 'default', clock: systemClock, write: () => {} });

let server: NatsServer | undefined;
const connections: NatsConnection[] = [];

beforeAll(async () => {
  if (NO_NATS_SERVER === undefined) server = await NatsServer.start();
});

afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await server?.[Symbol.asyncDispose]();
});

function createClaims(place: string, url = server?.url ?? ''): TickClaims {
  let connection: NatsConnection | undefined;
  const connect = async (): Promise<NatsConnection> => {
    connection ??= await NatsConnection.open({
      ...{ servers: [url], inboxPrefix: '_INBOX_svc', name: 'test', clock: systemClock, logger },
    });
    connections.push(connection);
    return connection;
  };
  return clusterClaims({
    cluster: {
      get away() {
        return connection?.trouble;
      },
      async keys(kind) {
        const nats = await connect();
        return new SharedKeys(await nats.bucket(`${place}_${kind}`, KEY_KINDS[kind].lifetimeMs));
      },
    },
    nowMs: Date.now,
    onFailure: (reason) => expect.unreachable(reason),
  });
}

describe.skipIf(NO_NATS_SERVER)(NO_NATS_SERVER ?? 'in a NATS of the test', () => {
  testTickClaims({
    name: 'the cluster',
    newPlace: () => `t${randomUUID().slice(0, 8)}`,
    create: (place) => createClaims(place),
  });
});

describe.skipIf(NO_NATS_SERVER)('claims in the cluster', () => {
  test('[CL22] no tick is won while NATS is away, and ticks are won again when it is back', {
    timeout: 60_000,
  }, async () => {
    await using own = await NatsServer.start();
    const claims = createClaims('away', own.url);
    await claims.start();
    await own.stop();
    await waitFor('the loss is noticed', () => claims.trouble);
    expect(await claim(claims, { trigger: 'a', atMs: 1_000, follows: false })).toMatchObject({ ok: false });
    await own.start();
    await waitFor('NATS is back', () => claims.trouble === undefined, 20_000);
    expect(await claim(claims, { trigger: 'a', atMs: 2_000, follows: false })).toEqual({ ok: true, won: [true] });
  });
});
