// What every list of the console can do: ids, columns, selections, files, find; and what it shows while it waits.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium } from '../support/chromium.ts';
import { openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

const KEYS = 1_500;
const LONG_ID = `long::${'segment::'.repeat(20)}the_end_of_it`;

describe.skipIf(!hasChromium)('Lists', () => {
  const site = consoleSite();
  let worker: SvcWorker;

  beforeAll(async () => {
    worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, { worker_name: 'lister', log: () => {} });
    await worker.registerFunction(LONG_ID, () => null).ready();
    await worker.registerFunction('short::fails', () => Promise.reject(new Error('always'))).ready();
    const keys = Array.from({ length: KEYS }, (_none, at) => `key-${String(at).padStart(5, '0')}`);
    await Promise.all(
      keys.map((key, at) =>
        worker.trigger({ function_id: 'state::set', payload: { scope: 'many', key, value: { at } } }),
      ),
    );
  });

  afterAll(async () => {
    await worker?.shutdown();
  });

  const open = (path: string, options: Parameters<typeof openConsole>[2] = {}) =>
    openConsole(site.browser, `${site.scene.url}${path}`, options);
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
  const header = (page: Page, name: string) => page.getByRole('columnheader', { name });

  test('[APP-9] An id is copied by one click, opened by another, and cut in its middle', async () => {
    const context = { permissions: ['clipboard-read', 'clipboard-write'] };
    await using opened = await open('/functions', { context });
    const { page } = opened;
    const line = row(page, 'the_end_of_it');
    await line.hover();
    await line.getByRole('button', { name: 'Copy function id' }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(LONG_ID);
    // Its beginning and its end are visible, whatever the width of the column.
    const tail = line.getByText(/^nd_of_it$|the_end_of_it$/).first();
    expect(await tail.evaluate((element) => element.scrollWidth <= element.clientWidth + 1)).toBe(true);
    await line.getByText('the_end_of_it').or(tail).first().click();
    await page.getByRole('complementary', { name: `Function ${LONG_ID}` }).waitFor();
  });

  test('[APP-11] Columns are hidden, moved and resized, and stay so after a reload', async () => {
    await using opened = await open('/functions');
    const { page } = opened;
    await header(page, 'Status').waitFor();
    const names = () => page.getByRole('columnheader').allInnerTexts();
    const before = await names();
    const width = async () => (await header(page, 'Status').boundingBox())?.width ?? 0;
    const widthBefore = await width();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Workers' }).uncheck();
    await page.getByRole('button', { name: 'Move Status left' }).click();
    await page.getByRole('button', { name: 'Wider Status' }).click();
    await header(page, 'Workers').waitFor({ state: 'detached' });
    await page.reload();
    await header(page, 'Status').waitFor();
    const after = await names();
    expect(after).not.toContain('Workers');
    expect(after.indexOf('Status')).toBeLessThan(before.indexOf('Status'));
    expect(await width()).toBeGreaterThan(widthBefore);
  });

  test('[APP-11] [KEY-1] Rows are selected by keys, a range with Shift, and exported', async () => {
    await using opened = await open('/states?scope=many');
    const { page } = opened;
    await row(page, 'key-00000').waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('x');
    for (const key of ['j', 'j', 'j']) await page.keyboard.press(key);
    await page.keyboard.press('Shift+X');
    await page.getByText('4 chosen').first().waitFor();
    const lines = (await exported(page, 'Selected rows as JSON lines')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).key)).toEqual(['key-00000', 'key-00001', 'key-00002', 'key-00003']);
  });

  test('[APP-11] All rows that match the filter are exported, including those that are not loaded', async () => {
    await using opened = await open('/states?scope=many');
    const { page } = opened;
    await row(page, 'key-00000').waitFor();
    await page.getByText('more are read while you scroll').waitFor();
    const csv = await exported(page, 'All that match as CSV');
    const lines = csv.trim().split(/\r?\n/);
    expect(lines).toHaveLength(KEYS + 1);
    expect(lines.at(-1)).toContain('key-01499');
  });

  test('[ACC-5] Find searches a long list, and its keys open the browser’s find when pressed again', async () => {
    await using opened = await open('/states?scope=many');
    const { page } = opened;
    await row(page, 'key-00000').waitFor();
    await page.keyboard.press('Control+f');
    const find = page.getByRole('search', { name: 'Find in the list' });
    await find.getByRole('textbox', { name: 'Text to find' }).fill('key-00777');
    await row(page, 'key-00777').waitFor();
    await find.getByText('Row 778 of').first().waitFor();
    const pressed = await page.evaluateHandle(() => {
      const seen = { times: 0, ours: 0 };
      document.addEventListener('keydown', (event) => {
        seen.times += Number(event.key === 'f');
        seen.ours += Number(event.key === 'f' && event.defaultPrevented);
      });
      return seen;
    });
    await page.keyboard.press('Control+f');
    expect(await pressed.jsonValue()).toEqual({ times: 1, ours: 0 });
    await page.keyboard.press('Escape');
    await find.waitFor({ state: 'detached' });
    expect(await page.getByRole('grid').evaluate((grid) => grid === document.activeElement)).toBe(true);
  });

  test('[EMP-4] A slow answer is named, and can be cancelled and requested again', async () => {
    await using opened = await open('/config');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Config', level: 1 }).waitFor();
    await page.route('**/api/functions?**', () => {});
    await page.goto(`${site.scene.url}/functions`);
    await page.getByText('Still waiting for the functions from the engine.').waitFor({ timeout: 30_000 });
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('heading', { name: 'Stopped waiting for the functions' }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.getByRole('button', { name: 'Ask again' }).click();
    await row(page, 'short::fails').waitFor();
  });

  test('[LIV-7] A burst of registrations reads the list once a second at most', async () => {
    await using opened = await open('/functions');
    const { page } = opened;
    await row(page, 'short::fails').waitFor();
    let reads = 0;
    page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/functions') reads += 1;
    });
    const beganMs = performance.now();
    for (let n = 0; n < 150; n++) await worker.registerFunction(`burst::f${n}`, () => null).ready();
    await page.getByRole('button', { name: /^burst 150$/ }).waitFor({ timeout: 30_000 });
    const seconds = (performance.now() - beganMs) / 1_000;
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
  });

  test('[ACC-2] Every state is a word, whatever its colour', async () => {
    await worker.trigger({ function_id: 'short::fails', payload: {} }).catch(() => {});
    for (const [path, name, words] of [
      ['/functions', 'Status', /^(Active|Draining)$/],
      ['/workers', 'State', /^(Available|Busy|Connected|Draining|Disconnected)$/],
      ['/traces', 'Status', /^(OK|Error|Pending)/],
    ] as const) {
      await using opened = await open(path);
      const { page } = opened;
      await page.getByRole('row').nth(1).waitFor();
      const at = (await page.getByRole('columnheader').allInnerTexts()).indexOf(name);
      expect(at).toBeGreaterThanOrEqual(0);
      const cells = page.getByRole('row').filter({ has: page.getByRole('gridcell').nth(at) });
      for (const line of (await cells.all()).slice(0, 10)) {
        const cell = line.getByRole('gridcell');
        if ((await cell.count()) > 1) expect((await cell.nth(at).innerText()).trim()).toMatch(words);
      }
    }
  });

  test('[ACC-4] A dialog holds the focus and returns it; without motion nothing moves; values are announced rarely', async () => {
    await using opened = await open('/states?scope=many');
    const { page } = opened;
    await row(page, 'key-00000').waitFor();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const add = page.getByRole('button', { name: 'Add item', exact: true });
    await add.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add item' });
    await dialog.waitFor();
    for (let pressed = 0; pressed < 20; pressed++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement?.closest('.cm-editor') !== null)) break;
      expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    }
    const moving = await page.evaluate(() =>
      document.getAnimations().filter(({ effect }) => Number(effect?.getComputedTiming().duration ?? 0) > 1),
    );
    expect(moving).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await waitFor('the focus is back', () => add.evaluate((element) => element === document.activeElement));
    const spoken = await page.evaluateHandle(() => {
      const said = { times: 0 };
      const regions = [...document.querySelectorAll('[role=status], [aria-live]')];
      const observer = new MutationObserver((changes) => {
        said.times += changes.length;
      });
      for (const region of regions) observer.observe(region, { subtree: true, childList: true, characterData: true });
      return said;
    });
    const beganMs = performance.now();
    await page.keyboard.press('Home');
    for (let n = 0; n < 12; n++) await page.keyboard.press(n % 2 === 0 ? 'x' : 'j');
    await page.getByText('6 chosen').first().waitFor();
    const allowed = Math.floor((performance.now() - beganMs) / 5_000) + 1;
    expect(await spoken.evaluate(({ times }) => times)).toBeLessThanOrEqual(allowed);
  });

  test('[X24] No page sends a request to another machine', async () => {
    await using opened = await open('/');
    const { page, problems } = opened;
    for (const name of [
      'Functions',
      'Triggers',
      'Queues',
      'States',
      'Streams',
      'Traces',
      'Logs',
      'Workers',
      'Config',
    ]) {
      await page
        .getByRole('navigation', { name: 'Pages' })
        .getByRole('link', { name: new RegExp(`^${name}`) })
        .click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    }
    // Any request or socket to another origin would be listed here.
    expect(problems).toEqual([]);
  });
});

async function exported(page: Page, item: string): Promise<string> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const download = page.waitForEvent('download', { timeout: 60_000 });
  await page.getByRole('menuitem', { name: item }).click();
  return await readFile(await (await download).path(), 'utf8');
}
