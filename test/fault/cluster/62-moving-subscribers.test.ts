// Fault 62: subscribers of a stream that three engines share are cut at random, and connect to a random engine again,
// while all engines write (M8 of the guarantees).

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sdkWorkers } from '../../e2e/sdk-workers.ts';
import { clusterYaml, waitForEngines } from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { FAULT_ROUNDS, faultRandom } from '../../support/load/fault-tools.ts';
import { checkStories } from '../../support/load/stories.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';

const connect = sdkWorkers();
const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const ENGINES = 3;
const SUBSCRIBERS = IS_LONG ? 600 : 24;
const EVENTS = 1_000;
const LONG_MS = IS_LONG ? FAULT_ROUNDS * 6_000 : 0;
const PROXIES = 6;

describe.skipIf(NO_NATS_SERVER)('subscribers of three engines', () => {
  test('[fault 62] [T2] [T4] miss nothing unnoticed when they move to another engine', {
    timeout: 180_000 + LONG_MS * 2,
  }, async () => {
    const line = faultLine('62', 'moving subscribers', 'offences=0');
    const random = faultRandom('62');
    const keyPrefix = newKeyPrefix();
    await using nats = await NatsServer.start();
    const adapter = `{name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${keyPrefix}'}}`;
    const entry = `  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, adapter: ${adapter}}}\n`;
    const more = 'limits: {stream: {history_events: 120}}';
    const yaml = clusterYaml({ nats: nats.url, prefix: `t${randomUUID().slice(0, 8)}`, workers: entry, more });
    const engines = await Promise.all(Array.from({ length: ENGINES }, () => startTestEngine({ yaml })));
    const workers = engines.map(({ url }) => connect(url));
    for (const worker of workers) await waitForEngines(worker, ENGINES - 1);
    const ports = engines.map(({ urls }) => Number(new URL(urls[1] ?? '').port));
    expect(ports).toHaveLength(ENGINES);
    const proxies = await Promise.all(Array.from({ length: PROXIES }, () => CutProxy.start(() => random.pick(ports))));
    line.figure = await checkStories({
      ...{ proxies, workers, subscribers: SUBSCRIBERS, events: EVENTS, lastsMs: LONG_MS, eventsPerCut: 60, random },
    });
    await Promise.all(proxies.map((proxy) => proxy[Symbol.asyncDispose]()));
    await Promise.all(engines.map((engine) => engine.drain()));
    await removeKeys(keyPrefix);
  });
});
