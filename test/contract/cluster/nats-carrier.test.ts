import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { NatsCarrier } from '../../../src/effects/nats/carrier.ts';
import { NatsConnection } from '../../../src/effects/nats/connection.ts';
import { systemRandom } from '../../../src/effects/random.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type CarrierPair, linkPair, testCarrier } from './carrier-contract.ts';

const logger = createLogger({ level: 'debug', format: 'default', clock: systemClock, write: () => {} });

async function connect(url: string): Promise<NatsConnection> {
  return await NatsConnection.open({
    servers: [url],
    inboxPrefix: '_INBOX_svc',
    name: 'test',
    clock: systemClock,
    logger,
  });
}

async function createPair(given?: NatsServer): Promise<CarrierPair> {
  const server = given ?? (await NatsServer.start());
  const connections = [await connect(server.url), await connect(server.url)];
  const ids = ['one', 'two'] as const;
  const make = (index: 0 | 1): NatsCarrier => {
    const nats = connections[index];
    if (nats === undefined) throw new Error('not connected');
    const load = () => ({ callsInFlight: 7, isDraining: index === 1 });
    const options = { nats, prefix: 'svc', engineId: ids[index], clock: systemClock, random: systemRandom };
    return new NatsCarrier({ ...options, logger, load });
  };
  const carriers = [make(0), make(1)] as const;
  return {
    ids,
    carriers,
    async [Symbol.asyncDispose]() {
      for (const carrier of carriers) carrier.close();
      await Promise.all(connections.map((one) => one.close()));
      if (given === undefined) await server[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(NO_NATS_SERVER)(NO_NATS_SERVER ?? 'over a NATS of the test', () =>
  testCarrier({ name: 'NATS', createPair }),
);

describe.skipIf(NO_NATS_SERVER)('a carrier over NATS', () => {
  test('[CL12] each engine learns how busy the other is, and whether it drains', async () => {
    await using pair = await createPair();
    const [a, b] = await linkPair(pair);
    expect([a.link.callsInFlight, a.link.isDraining]).toEqual([7, true]);
    expect([b.link.callsInFlight, b.link.isDraining]).toEqual([7, false]);
  });

  test('[CL15] no session is up while NATS is away, and a new one begins when it is back', {
    timeout: 60_000,
  }, async () => {
    await using server = await NatsServer.start();
    await using pair = await createPair(server);
    const [a, b] = await linkPair(pair);
    await server.stop();
    await waitFor('both ends are down', () => a.downs.length === 1 && b.downs.length === 1);
    expect(a.downs).toEqual(['NATS is away: the connection was lost']);
    a.send('lost');
    await server.start();
    await waitFor('both are up again', () => a.link.isUp && b.link.isUp, 20_000);
    a.send('after');
    await waitFor('frames arrive again', () => b.received.length > 0);
    expect(b.received).toEqual(['after']);
  });

  test('[CL15] a NATS that falls silent counts as away after two pings', { timeout: 60_000 }, async () => {
    await using server = await NatsServer.start();
    await using pair = await createPair(server);
    const [a] = await linkPair(pair);
    server.freeze();
    await waitFor('the end is down', () => a.downs.length === 1, 10_000);
  });
});
