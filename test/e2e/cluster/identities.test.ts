// An engine whose key is deleted as soon as it exists.

import { expect, test } from 'vitest';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { NatsConnection } from '../../../src/effects/nats/connection.ts';
import { clusterYaml, statusOf } from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

const TIMES = 3;

test.skipIf(NO_NATS_SERVER)(
  '[CL6] becomes a member in the end, although it lost its identity before it knew the others',
  {
    timeout: 60_000,
  },
  async () => {
    await using server = await NatsServer.start();
    const logger = createLogger({ level: 'error', format: 'default', clock: systemClock, write: () => {} });
    const nats = await NatsConnection.open({
      ...{ servers: [server.url], inboxPrefix: '_INBOX_svc', name: 'test', clock: systemClock, logger },
    });
    const engines = await nats.bucket('early_engines');
    await engines.put('other', 'no engine');
    const deleted: string[] = [];
    const stop = engines.watch({
      begin: () => {},
      entry: ({ key, value }) => {
        if (key === 'other' || value === undefined || deleted.includes(key) || deleted.length === TIMES) return;
        deleted.push(key);
        void engines.delete(key);
      },
      complete: () => {},
    });
    await using engine = await startTestEngine({ yaml: clusterYaml({ nats: server.url, prefix: 'early' }) });
    const caller = connect(engine.url);
    const ownId = async () => (await statusOf(caller)).engines.find(({ status }) => status === 'here')?.id ?? '';
    await waitFor(
      'it has an identity that was not deleted',
      async () => {
        const id = await ownId();
        return deleted.length === TIMES && id !== '' && !deleted.includes(id);
      },
      30_000,
    );
    expect((await statusOf(caller)).trouble).toBeUndefined();
    stop();
    await nats.close();
  },
);
