// Fault 63: an engine reads its events so slowly that Redis ends its connection, as its buffer for a subscriber is full (M9
// of the guarantees).

import { createClient } from '@redis/client';
import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds } from '../../support/load/fault-tools.ts';
import { NO_REDIS_SERVER, RedisServer } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(1);
const GROUP = { stream_name: 'chat', group_id: 'room' };
/** More than the system and Redis hold for a client that does not read. */
const EVENTS = 600;
const BYTES = 20_000;

const yamlFor = (url: string): string => `drain_timeout_ms: 100
limits: {stream: {history_bytes: ${2 * EVENTS * BYTES}}}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, adapter: {name: extstore, config: {extstore_url: '${url}'}}}}
`;

describe.skipIf(NO_REDIS_SERVER)('an engine that Redis cuts off', () => {
  test('[fault 63] [T4] gets what it missed from the history, and its calls end', {
    timeout: 60_000 + ROUNDS * 30_000,
  }, async () => {
    const line = faultLine('63', 'overrun subscriber', 'missed=0');
    await using redis = await RedisServer.start();
    await redis.command('config', 'set', 'client-output-buffer-limit', 'pubsub 65536 0 0');
    await using slow = await EngineProcess.start(yamlFor(redis.url));
    await using fast = await startTestEngine({ yaml: yamlFor(redis.url) });
    await using writer = await RawWorker.connect(fast.url);
    await using onSlow = await RawWorker.connect(slow.url);
    await using watcher = await StreamClient.connect(slow.urls[1] ?? '', '/stream/chat/room/');
    await watcher.nextOf('sync');
    const admin = await createClient({ url: redis.url }).connect();
    const listening = async (): Promise<number> =>
      String(await admin.sendCommand(['CLIENT', 'LIST', 'TYPE', 'pubsub'])).split('\n').length;
    let written = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const before = await listening();
      slow.kill('SIGSTOP');
      const call = onSlow.call('stream::list', GROUP);
      for (let n = 0; n < EVENTS; n++) {
        await writer.call('stream::set', {
          ...GROUP,
          item_id: `i${n % 10}`,
          data: { n: ++written, text: 'x'.repeat(BYTES) },
        });
      }
      await waitFor('Redis ends the connection', async () => (await listening()) < before, 10_000);
      slow.kill('SIGCONT');
      const { result, error } = await call;
      expect(result !== undefined || error !== undefined).toBe(true);
      await waitFor('the last event', () => Object(watcher.messages.at(-1)?.event.data).n === written, 20_000);
    }
    const seen = watcher.messages.filter(({ event }) => event.type !== 'sync').map(({ event }) => Object(event.data).n);
    line.figure = `missed=${written - new Set(seen).size}`;
    expect(seen).toEqual(Array.from({ length: written }, (_, index) => index + 1));
    admin.destroy();
  });
});
