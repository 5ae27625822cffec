// The configuration of docs/operations/three-engines.md, and what that page says about restarts.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { waitForEngines, waitForFunction } from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { freePort } from '../../support/free-port.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/operations/three-engines');
const CONFIGURATION = readFileSync(join(FOLDER, 'svc-config.yaml'), 'utf8');
const TOKEN = 'a token of the test with 32 bytes or more'.replaceAll(' ', '-');
const PASSWORD = 'secret';

interface Place {
  readonly port: number;
  readonly httpPort: number;
  readonly url: string;
}

async function newPlace(): Promise<Place> {
  const [port, httpPort] = [await freePort(), await freePort()];
  return { port, httpPort, url: `ws://127.0.0.1:${port}` };
}

function configurationFor({ port, httpPort }: Place, nats: NatsServer, keyPrefix: string): string {
  const variables: Readonly<Record<string, string>> = {
    ...{ SVC_NATS_1: nats.url, SVC_NATS_2: nats.url, SVC_NATS_3: nats.url, SVC_NATS_PASSWORD: PASSWORD },
    ...{ SVC_REDIS_URL: SHARED_REDIS, SVC_BRIDGE_TOKEN: TOKEN, SVC_HOST: '127.0.0.1', SVC_ZONE: 'a' },
  };
  return CONFIGURATION.replaceAll(/\$\{(\w+)[^}]*\}/g, (_all, name: string) => variables[name] ?? '')
    .replace('port: 49134', `port: ${port}`)
    .replace('port: 3111', `port: ${httpPort}`)
    .replace('port: 3112', 'port: 0')
    .replaceAll(`redis_url: '${SHARED_REDIS}'`, `redis_url: '${SHARED_REDIS}', key_prefix: '${keyPrefix}'`);
}

/** Calls again and again. The returned function stops, and resolves with the number of calls; none may fail. */
function keepCalling(call: () => Promise<unknown>): () => Promise<number> {
  let isStopped = false;
  let calls = 0;
  const done = (async () => {
    for (; !isStopped; calls++) await call();
    return calls;
  })();
  // Awaited later.
  done.catch(() => {});
  return () => {
    isStopped = true;
    return done;
  };
}

describe.skipIf(NO_NATS_SERVER)('a restart of one engine after the other', () => {
  test('[CL29] fails no call', async () => {
    const keyPrefix = newKeyPrefix();
    await using nats = await NatsServer.start({
      more: `authorization {users: [{user: svc, password: "${PASSWORD}"}]}`,
    });
    const places = [await newPlace(), await newPlace()];
    const start = (place: Place): Promise<EngineProcess> =>
      EngineProcess.start(configurationFor(place, nats, keyPrefix));
    const engines = await Promise.all(places.map(start));
    const connect = (): SvcWorker =>
      registerWorker(places.map(({ url }) => url).join(), { token: TOKEN, handle_signals: false });
    const [worker, caller] = [connect(), connect()];
    try {
      worker.registerFunction('demo::hello', () => 'hello');
      await waitForFunction(caller, 'demo::hello');
      const stopCalling = keepCalling(() => caller.trigger('demo::hello', {}));
      for (const [index, place] of places.entries()) {
        await waitForEngines(caller, 1);
        const engine = engines[index];
        engine?.kill('SIGTERM');
        expect(await engine?.ended).toMatchObject({ code: 0 });
        engines[index] = await start(place);
      }
      expect(await stopCalling()).toBeGreaterThan(10);
    } finally {
      await Promise.all([worker.shutdown(), caller.shutdown()]);
      await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
      await removeKeys(keyPrefix);
    }
  });
});
