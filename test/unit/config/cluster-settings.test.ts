import { describe, expect, test } from 'vitest';
import { loaded, placesOf } from './fixture-declarations.ts';

const cluster = (nats: string, more = ''): string => `cluster: {nats: {${nats}}${more}}`;

describe('the setting cluster', () => {
  test('[CL1] is absent unless it is written', () => {
    expect(loaded('').settings.cluster).toBeUndefined();
  });

  test('[CL2] needs no more than the address of a NATS on this machine', () => {
    expect(loaded(cluster('servers: [nats://127.0.0.1:4222]')).settings.cluster).toMatchObject({
      ...{ prefix: 'svc', accept_weaker: false },
    });
  });

  test.each([
    ['servers: []', 'cluster.nats.servers: Needs at least one address'],
    [
      'servers: [http://127.0.0.1]',
      "cluster.nats.servers[0]: Must be an address such as nats://host:4222, found 'http",
    ],
    ['servers: [nats]', "cluster.nats.servers[0]: Must be an address such as nats://host:4222, found 'nats'"],
    ['servers: [nats://127.0.0.1], user: svc', 'cluster.nats.user: Needs password as well.'],
    ['servers: [nats://127.0.0.1], password: secret', 'cluster.nats.password: Needs user as well.'],
  ])('[CL2] {%s} is refused at its place', (nats, text) => {
    const places = placesOf(cluster(nats));
    expect(places).toHaveLength(1);
    expect(places[0]).toContain(text);
  });

  test.each(['orders.eu', 'a b', 'x'.repeat(33), '*'])('[CL2] the prefix %j is refused: it names buckets', (prefix) => {
    expect(placesOf(cluster('servers: [nats://127.0.0.1]', `, prefix: '${prefix}'`))[0]).toContain('cluster.prefix: ');
  });

  test('[CL2] a NATS on another machine needs TLS and credentials', () => {
    const servers = 'servers: [nats://10.0.0.9:4222]';
    expect(placesOf(cluster(servers))[0]).toContain('Set cluster.nats.tls and user and password, or creds_file');
    expect(placesOf(cluster(`${servers}, tls: {}`))[0]).toContain('Set user and password, or creds_file');
    expect(placesOf(cluster(`${servers}, user: a, password: b`))[0]).toContain('Set cluster.nats.tls, or');
    expect(loaded(cluster(`${servers}, user: a, password: b, tls: {}`)).settings.cluster).toBeDefined();
    expect(loaded(cluster('servers: [tls://10.0.0.9:4222], creds_file: svc.creds')).settings.cluster).toBeDefined();
    expect(loaded(cluster(servers, ', accept_weaker: true')).settings.cluster).toBeDefined();
  });
});
