// A hundred thousand of everything that a list shows: every page shows the exact number, puts only visible rows into
// its document, and still responds to keys and filters.

import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Enqueue, registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium } from '../support/chromium.ts';
import { openConsole } from '../support/console-page.ts';
import { ALL_MODULES } from '../support/console-scene.ts';
import { consoleSite } from '../support/console-site.ts';

const ROWS = 100_000;
const FUNCTIONS = 2_000;
/** Concurrent calls. */
const AT_ONCE = 2_000;
const ROWS_SEEN_MAX = 200;
const FILL_MS = 300_000;
const WAIT_MS = 60_000;
const MODULES = ALL_MODULES.replace(
  'metrics_enabled: true',
  'metrics_enabled: true, logs_max_count: 200000, memory_max_spans: 150000',
);

describe.skipIf(!hasChromium)('a hundred thousand rows', () => {
  const site = consoleSite({ modules: MODULES });
  let worker: SvcWorker;

  beforeAll(async () => {
    worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, { worker_name: 'filler', log: () => {} });
    await worker.ready();
    await worker.trigger({ function_id: 'engine::queue::pause', payload: { queue: 'audit' } });
    const number = (at: number): string => String(at).padStart(6, '0');
    for (let n = 0; n < FUNCTIONS; n++) worker.registerFunction(`many::f${number(n)}`, () => null);
    await inBatches(ROWS, (at) =>
      worker.trigger({ function_id: 'state::set', payload: { scope: 'many', key: `k${number(at)}`, value: at } }),
    );
    await inBatches(ROWS, (at) =>
      worker.trigger({ function_id: 'many::f000000', payload: { at }, action: Enqueue({ queue: 'audit' }) }),
    );
    // Records that arrive faster than telemetry can store them are dropped and counted. Here none may be dropped.
    for (let at = 0; at < ROWS; at += AT_ONCE) {
      await inBatches(AT_ONCE, (n) =>
        worker.trigger({ function_id: 'engine::log::info', payload: { message: `entry ${number(at + n)}` } }),
      );
      await waitFor('the logs are kept', async () => (await totalLogs()) >= at + AT_ONCE, WAIT_MS);
    }
  }, FILL_MS);

  afterAll(async () => {
    await worker?.shutdown();
  });

  async function totalLogs(): Promise<number> {
    const answer = await fetch(`${site.scene.url}/api/logs/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"limit": 1}',
    });
    return (await answer.json()).total;
  }

  const open = (path: string) => openConsole(site.browser, `${site.scene.url}${path}`);
  const rows = (page: Page): Locator => page.getByRole('grid').first().getByRole('row');

  /** Keys act at once at any position of the list, and few rows are in the document. */
  async function expectAlive(page: Page): Promise<void> {
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.querySelectorAll('[role=row]').length)).toBeLessThanOrEqual(
      ROWS_SEEN_MAX,
    );
  }

  /** Scrolls to the end of the loaded rows, again and again, until there are that many: the server's pages are read. */
  async function readBeyond(page: Page, count: number): Promise<void> {
    const loaded = async (): Promise<number> => Number(await rows(page).last().getAttribute('aria-rowindex'));
    for (let before = await loaded(); before <= count; before = await loaded()) {
      await page.keyboard.press('End');
      await waitFor('the next page is there', async () => (await loaded()) > before, WAIT_MS);
      await expectAlive(page);
    }
  }

  test('[STA-2] Keys of a scope are one list, searched on the server', async () => {
    await using opened = await open('/states?scope=many');
    const { page } = opened;
    await page.getByRole('navigation', { name: 'Scopes' }).getByText('many').waitFor({ timeout: WAIT_MS });
    await rows(page).filter({ hasText: 'k000000' }).waitFor({ timeout: WAIT_MS });
    await readBeyond(page, 3_000);
    await page.getByRole('searchbox').fill('k099999');
    await rows(page).filter({ hasText: 'k099999' }).waitFor({ timeout: WAIT_MS });
    await page.getByRole('grid').first().focus();
    await expectAlive(page);
  }, 180_000);

  test('[QUE-2] Waiting jobs are paged by the server, and their number is exact', async () => {
    await using opened = await open('/queues?queue=audit');
    const { page } = opened;
    await page.getByText('100 000').first().waitFor({ timeout: WAIT_MS });
    await rows(page).nth(5).waitFor({ timeout: WAIT_MS });
    await readBeyond(page, 1_000);
  }, 180_000);

  test('[LOG-1] Records are counted, read in pages, and found', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await rows(page).nth(5).waitFor({ timeout: WAIT_MS });
    const shown = Number(await page.getByRole('grid', { name: 'Log records' }).getAttribute('aria-rowcount'));
    expect(shown).toBeGreaterThanOrEqual(ROWS);
    await readBeyond(page, 1_000);
    await page.goto(`${site.scene.url}/logs?q=%22entry+000042%22`);
    await rows(page).filter({ hasText: 'entry 000042' }).waitFor({ timeout: WAIT_MS });
    await expectAlive(page);
  }, 180_000);

  test('[TRC-1] [FUN-1] The lists of traces and functions stay responsive', async () => {
    await using opened = await open('/traces?f=name:enqueue');
    const { page } = opened;
    await rows(page).nth(5).waitFor({ timeout: WAIT_MS });
    await expectAlive(page);
    await page.goto(`${site.scene.url}/functions`);
    await page.getByRole('button', { name: /^many 2 000$/ }).waitFor({ timeout: WAIT_MS });
    await expectAlive(page);
    await page.getByRole('searchbox', { name: 'Search functions' }).fill('f001999');
    await rows(page).filter({ hasText: 'many::f001999' }).waitFor({ timeout: WAIT_MS });
    await page.goto(site.scene.url);
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Functions 2 000 / })
      .waitFor({ timeout: WAIT_MS });
    await expectAlive(page);
  }, 180_000);
});

async function inBatches(count: number, run: (at: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_none, at) => run(from + at)));
  }
}
