// The Queues page while jobs are held back, because their Redis went back in time.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { NO_REDIS_SERVER } from '../../support/stores/redis-server.ts';
import { RedisWithBackup } from '../../support/stores/redis-with-backup.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';
import { ALL_MODULES, ConsoleScene } from '../support/console-scene.ts';

const BUILTIN = 'adapter: {name: builtin, config: {store_method: in_memory}}';

describe.skipIf(!hasChromium || NO_REDIS_SERVER !== undefined)('Queues', () => {
  let redis: RedisWithBackup;
  let scene: ConsoleScene;
  let worker: RawWorker;

  beforeAll(async () => {
    redis = await RedisWithBackup.start();
    const adapter = `adapter: {name: extstore, config: {redis_url: '${redis.server.url}'}}`;
    scene = await ConsoleScene.start({ modules: ALL_MODULES.replace(BUILTIN, adapter) });
    worker = await RawWorker.connect(`ws://127.0.0.1:${scene.ports.bridge}`);
  }, 60_000);

  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]();
    await scene?.[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
  });

  async function jobs(state?: 'waiting_for_worker'): Promise<unknown[]> {
    const filter = state === undefined ? {} : { state };
    const { result } = await worker.call('engine::queue::jobs', { queue: 'mail', ...filter });
    return (result as { items: unknown[] }).items;
  }

  test('[QUE-6] say that jobs are held back, and with which command they continue, until they do', async () => {
    const ran: unknown[] = [];
    await worker.call('late', 1, { action: { type: 'enqueue', queue: 'mail' } });
    await waitFor('it waits for its function', async () => (await jobs('waiting_for_worker')).length === 1);
    redis.backUp();
    await worker.serve('late', (data) => ran.push(data));
    await waitFor('it is done', async () => ran.length === 1 && (await jobs()).length === 0);
    await redis.goBack();
    await using browser = await launchChromium();
    await using opened = await openConsole(browser, `${scene.url}/queues`);
    const { page } = opened;
    const note = page.getByRole('alert').filter({ hasText: "until you run 'svc queue recover'" });
    await note.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.goto(`${scene.url}/queues?queue=mail`);
    await page.getByText('held back').waitFor();
    await page.goto(`${scene.url}/queues`);
    await note.waitFor();
    await worker.call('svc::queue::recover', { done_jobs: 'discard' });
    await note.waitFor({ state: 'detached' });
  }, 60_000);
});
