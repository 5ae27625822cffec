import { expect, test, vi } from 'vitest';
import { Counters } from '../../../src/core/registry/counters.ts';
import { systemClock } from '../../../src/effects/clock.ts';
import { createLogger } from '../../../src/effects/logger.ts';
import { StoreClient } from '../../../src/store/thread/client.ts';
import type { StoreReply } from '../../../src/store/thread/contract.ts';
import { PortWorker } from '../../../src/store/thread/port-worker.ts';
import { type OpenedTestStore, openTestStore } from '../../support/engine/running-store.ts';

interface Client {
  readonly failures: string[];
  run(command: string, input: object): Promise<StoreReply>;
}

/** The store as another router sees it. */
async function clientOf({ registry, store }: OpenedTestStore): Promise<Client> {
  const failures: string[] = [];
  const client = new StoreClient({
    name: 'memory',
    worker: new PortWorker(await registry.portTo(store)),
    clock: systemClock,
    logger: createLogger({ level: 'error', format: 'default', clock: systemClock, write: () => true }),
    counters: new Counters(),
    onFailure: (reason) => failures.push(reason),
  });
  return {
    failures,
    run: (command, input) =>
      new Promise((resolve) => {
        client.run(command, Buffer.from(JSON.stringify(input)), (reply) =>
          resolve({ ...reply, ...(reply.result !== undefined && { result: Buffer.from(reply.result) }) }),
        );
      }),
  };
}

const ENTRY = { scope: 's', key: 'k' };

test('[RO15] every client of a store sees the changes of the others, in one order', async () => {
  const opened = await openTestStore({ kind: 'memory' }, false, true);
  const clients = await Promise.all([clientOf(opened), clientOf(opened)]);
  const ops = [{ type: 'increment', path: 'n', by: 1 }];
  const increments = Array.from({ length: 500 }, (_, at) => at % clients.length);
  await Promise.all(increments.map((at) => clients[at]?.run('state::update', { ...ENTRY, ops })));
  for (const client of clients) {
    const { result } = await client.run('state::get', ENTRY);
    expect(JSON.parse(String(result))).toEqual({ n: increments.length });
  }
  await opened.registry.close();
});

test('[RO15] [D3] a client reports the end of the thread of its store, and acknowledges nothing any more', async () => {
  const opened = await openTestStore({ kind: 'memory' }, false, true);
  const client = await clientOf(opened);
  await client.run('state::set', { ...ENTRY, value: 1 });
  await opened.registry.close();
  expect((await client.run('state::set', { ...ENTRY, value: 2 })).error?.code).toBe('STORAGE_UNAVAILABLE');
  expect((await client.run('state::get', ENTRY)).error?.code).toBe('STORAGE_UNAVAILABLE');
  await vi.waitFor(() => expect(client.failures).toHaveLength(1));
});
