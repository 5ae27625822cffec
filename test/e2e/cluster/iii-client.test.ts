// The published client of `iii` on both engines of a pair: it knows nothing of clusters.

import { randomBytes } from 'node:crypto';
import type { ChannelReader } from 'iii-sdk/channel';
import { createChannel } from 'iii-sdk/helpers';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { waitForFunction, waitForTriggers } from '../../support/cluster/cluster-engines.ts';
import { startClusterPair } from '../../support/cluster/cluster-pair.ts';
import { NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { freePort } from '../../support/free-port.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

// The client reports every connection on the console.
beforeEach(() => {
  vi.spyOn(console, 'debug').mockReturnValue(undefined);
});

describe.skipIf(NO_NATS_SERVER)(
  'the published iii client, with a caller on one engine and a worker on the other',
  () => {
    test('[CL7] [CL26] calls, and reads a channel of the other engine', async () => {
      await using pair = await startClusterPair();
      await using worker = new IiiClient(pair.b.url);
      await using caller = new IiiClient(pair.a.url);
      worker.sdk.registerFunction('far::double', async ({ n }: { n: number }) => ({ n: 2 * n }));
      worker.sdk.registerFunction(
        'far::length',
        async ({ from }: { from: ChannelReader }) => (await from.readAll()).length,
      );
      await worker.ready();
      await waitForFunction(connect(pair.a.url), 'far::length');
      expect(await caller.call('far::double', { n: 21 })).toEqual({ n: 42 });
      const bytes = randomBytes(3_000_000);
      const channel = await createChannel(caller.sdk);
      const answer = caller.call('far::length', { from: channel.readerRef });
      channel.writer.stream.end(bytes);
      expect(await answer).toBe(bytes.length);
    });

    test('[CL18] answers a route on the port of the other engine', async () => {
      const port = await freePort();
      const workers = `  - {name: svc-http, config: {port: ${port}, host: 127.0.0.1}}\n`;
      await using pair = await startClusterPair({ workers }, {});
      await using worker = new IiiClient(pair.b.url);
      worker.sdk.registerFunction('far::hello', async () => ({ status_code: 200, body: { hello: 'there' } }));
      worker.sdk.registerTrigger({
        ...{ type: 'http', function_id: 'far::hello' },
        config: { api_path: 'hello', http_method: 'GET' },
      });
      await worker.ready();
      await waitForTriggers(connect(pair.a.url), 1);
      const answer = await fetch(`http://127.0.0.1:${port}/hello`);
      expect([answer.status, await answer.json()]).toEqual([200, { hello: 'there' }]);
    });
  },
);
