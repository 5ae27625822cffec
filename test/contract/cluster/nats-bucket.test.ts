import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, test } from 'vitest';
import { MarkerSweep } from '../../../src/cluster/marker-sweep.ts';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import type { Bucket, BucketEntry } from '../../../src/effects/nats/bucket.ts';
import { NatsConnection } from '../../../src/effects/nats/connection.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { FakeClock } from '../../support/fakes/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

const logger = createLogger({ level: 'error', format: 'default', clock: systemClock, write: () => {} });

interface Opened extends AsyncDisposable {
  readonly server: NatsServer;
  readonly nats: NatsConnection;
  readonly bucket: Bucket;
}

async function open(): Promise<Opened> {
  const server = await NatsServer.start();
  const nats = await NatsConnection.open({
    ...{ servers: [server.url], inboxPrefix: '_INBOX_svc', name: 'test', clock: systemClock, logger },
  });
  return {
    server,
    nats,
    bucket: await nats.bucket('things'),
    async [Symbol.asyncDispose]() {
      await nats.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Everything that a watch delivers. */
class Watched implements Disposable {
  entries: BucketEntry[] = [];
  completions = 0;
  readonly #stop: () => void;

  constructor(bucket: Bucket) {
    this.#stop = bucket.watch({
      begin: () => {
        this.entries = [];
      },
      entry: (entry) => this.entries.push(entry),
      complete: () => this.completions++,
    });
  }

  get keys(): string[] {
    return this.entries.map(({ key }) => key);
  }

  [Symbol.dispose](): void {
    this.#stop();
  }
}

/** As when the server is lost that led it: no client hears of it. */
async function forgetWatches({ url }: NatsServer, { name }: Bucket): Promise<void> {
  const connection = await connect({ servers: url });
  try {
    const { consumers } = await jetstreamManager(connection);
    const stream = `KV_${name}`;
    for (const { name: consumer } of await consumers.list(stream).next()) await consumers.delete(stream, consumer);
  } finally {
    await connection.close();
  }
}

describe.skipIf(NO_NATS_SERVER)('a bucket', () => {
  test('[CL5] delivers what it holds, says when that is all, and then every change', async () => {
    await using opened = await open();
    const { bucket } = opened;
    for (const key of ['a', 'b']) await bucket.put(key, key);
    using watched = new Watched(bucket);
    await waitFor('all has been delivered', () => watched.completions === 1);
    expect(watched.keys).toEqual(['a', 'b']);
    await bucket.put('a', 'again');
    await bucket.delete('b');
    await waitFor('the changes have been delivered', () => watched.entries.length === 4);
    expect(watched.entries.slice(2).map(({ key, value }) => [key, value])).toEqual([
      ['a', 'again'],
      ['b', undefined],
    ]);
  });

  test('[CL5] changes and deletes a key only in the revision that is given', async () => {
    await using opened = await open();
    const { bucket } = opened;
    const revision = await bucket.create('a', '1');
    const next = await bucket.update('a', '2', revision);
    await expect(bucket.update('a', '3', revision)).rejects.toThrow();
    await expect(bucket.delete('a', revision)).rejects.toThrow();
    await bucket.delete('a', next);
    expect(await bucket.read('a')).toBeUndefined();
  });

  test('[CL36] replaces a value only if no other engine has replaced it meanwhile', async () => {
    await using opened = await open();
    const { bucket } = opened;
    const add = (value: string | undefined): string => String(Number(value ?? 0) + 1);
    const replaced: boolean[] = [];
    for (let round = 0; round < 5; round++) {
      replaced.push(...(await Promise.all(Array.from({ length: 8 }, () => bucket.exchange('count', add)))));
    }
    expect(replaced).toContain(false);
    expect(Number(await bucket.read('count'))).toBe(replaced.filter(Boolean).length);
    await bucket.delete('count');
    expect(await bucket.exchange('count', () => undefined)).toBe(false);
    expect(await bucket.exchange('count', (value) => value ?? 'new')).toBe(true);
    expect(await bucket.read('count')).toBe('new');
  });

  test('[CL5] removes the marker of a deleted key after 10 minutes, and nothing that was written to it since', async () => {
    await using opened = await open();
    const { bucket } = opened;
    for (const key of ['kept', 'gone', 'again']) await bucket.put(key, key);
    using watched = new Watched(bucket);
    await waitFor('all has been delivered', () => watched.completions === 1);
    const clock = new FakeClock();
    const sweep = new MarkerSweep(bucket, clock);
    for (const key of ['gone', 'again']) await bucket.delete(key);
    await waitFor('both have been deleted', () => watched.entries.length === 5);
    for (const entry of watched.entries) sweep.saw(entry);
    await bucket.put('again', 'new');
    clock.advance(661_000);
    await waitFor('no marker is left', async () => {
      using fresh = new Watched(bucket);
      await waitFor('all has been delivered', () => fresh.completions === 1);
      return fresh.entries.every(({ value }) => value !== undefined);
    });
    expect([await bucket.read('kept'), await bucket.read('again')]).toEqual(['kept', 'new']);
    sweep.stop();
  });

  test('[CL5] removes all keys of an engine at once', async () => {
    await using opened = await open();
    const { bucket } = opened;
    for (const key of ['e1.f.a', 'e1.t.b', 'e2.f.a']) await bucket.put(key, '{}');
    await bucket.purgeBelow('e1');
    using watched = new Watched(bucket);
    await waitFor('all has been delivered', () => watched.completions === 1);
    expect(watched.keys).toEqual(['e2.f.a']);
  });

  test('[CL7] delivers again what it holds when the server that delivered has forgotten the watch', async () => {
    await using opened = await open();
    const { bucket, server } = opened;
    await bucket.put('a', '1');
    using watched = new Watched(bucket);
    await waitFor('all has been delivered', () => watched.completions === 1);
    await forgetWatches(server, bucket);
    await bucket.put('a', '2');
    await waitFor('the change is delivered', () => watched.entries.some(({ value }) => value === '2'));
    expect(watched.completions).toBe(2);
  });

  test('[CL15] fails at once while NATS is away, and does not change afterwards', { timeout: 60_000 }, async () => {
    await using opened = await open();
    const { server, bucket, nats } = opened;
    await bucket.put('a', '1');
    await server.stop();
    await waitFor('the loss is noticed', () => nats.trouble !== undefined);
    await expect(bucket.put('a', '2')).rejects.toThrow('NATS is away');
    await server.start();
    await waitFor(
      'it can be read again',
      async () => (await bucket.read('a').catch(() => undefined)) !== undefined,
      20_000,
    );
    expect(await bucket.read('a')).toBe('1');
  });
});
