// The Dashboard, over a real engine with busy workers.

import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';
import { ConsoleScene } from '../support/console-scene.ts';
import { consoleSite } from '../support/console-site.ts';

describe.skipIf(!hasChromium)('Dashboard', () => {
  const site = consoleSite({ workers: ['billing', 'shop'], busy: true });

  test('[DSH-2] The charts share one cursor, and a selected range opens Traces with it', async () => {
    await using opened = await openConsole(site.browser, site.scene.url);
    const { page } = opened;
    const chart = page.getByRole('slider', { name: /^Queue depth/ });
    await chart.and(page.locator('[aria-valuetext*="jobs"]')).waitFor();
    await chart.focus();
    await page.keyboard.press('ArrowLeft');
    const other = page.getByRole('slider', { name: /^Active workers/ });
    expect(await other.getAttribute('aria-valuenow')).toBe(await chart.getAttribute('aria-valuenow'));
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/traces\?from=\d+&to=\d+/);
  });

  test('[DSH-1] A worker with functions is active, even while no call runs', async () => {
    await using opened = await openConsole(site.browser, site.scene.url);
    // The console is the third worker, and has no functions.
    await opened.page.getByRole('link', { name: /^Workers 3 connected, 2 active$/ }).waitFor();
  });

  test('[DSH-3] The flow diagram shows triggers and functions, and how to enable the page', async () => {
    await using opened = await openConsole(site.browser, site.scene.url);
    const { page } = opened;
    const main = page.getByRole('main');
    await main.getByRole('link', { name: 'POST /orders' }).waitFor();
    await main.getByText('The flow can have a page of its own.').click();
    await main.getByText('svc console --enable-flow').waitFor();
    await main.getByRole('link', { name: 'orders::post' }).click();
    await page.getByRole('complementary', { name: 'Function orders::post' }).waitFor();
  });

  test('[DSH-4] dead letters need attention', async () => {
    await using opened = await openConsole(site.browser, site.scene.url);
    await opened.page.getByRole('link', { name: /^\d+ dead letters? in mail/ }).waitFor({ timeout: 20_000 });
  });

  test('[DSH-5] The top functions have charts of their last minutes, including those before the page was opened', async () => {
    await using opened = await openConsole(site.browser, site.scene.url);
    const main = opened.page.getByRole('main');
    for (const title of ['Most calls', 'Most errors', 'Most time']) {
      const line = main.getByRole('img', { name: new RegExp(`^${title}: .* in the last minutes$`) }).first();
      await line.waitFor({ timeout: 20_000 });
      // A line has more than one point.
      expect(await line.locator('path').getAttribute('d')).toMatch(/^M.*L/);
    }
    expect(await main.getByRole('img', { name: /^Most calls: / }).count()).toBeLessThanOrEqual(5);
  });

  test('[DSH-6] Calls of the engine itself are in no counter unless they are shown', async () => {
    // Its calls are refused: few functions fail, so it is among those that fail most.
    const body = JSON.stringify({ function_id: 'state::get', payload: {} });
    const headers = { 'content-type': 'application/json' };
    for (let n = 0; n < 20; n++) await fetch(`${site.scene.url}/api/invoke`, { method: 'POST', headers, body });
    await using opened = await openConsole(site.browser, site.scene.url);
    const { page } = opened;
    const main = page.getByRole('main');
    await main.getByRole('img', { name: /^Most errors: billing::charge / }).waitFor({ timeout: 30_000 });
    expect(await main.getByRole('img', { name: /^Most \w+: (?:engine|state|stream)::/ }).count()).toBe(0);
    await page.getByRole('switch', { name: 'Internal' }).click();
    await main.getByRole('img', { name: /^Most errors: state::get / }).waitFor({ timeout: 30_000 });
  }, 90_000);

  test('[EMP-1] [DSH-1] [DSH-4] A new engine: first steps that are checked off, live counts, no problems', async () => {
    await using own = await ConsoleScene.start();
    await using opened = await openConsole(site.browser, own.url);
    const { page } = opened;
    const main = page.getByRole('main');
    await page.getByRole('heading', { name: 'Create a project' }).waitFor();
    await page.getByRole('button', { name: 'Copy start its worker' }).waitFor();
    expect(await page.getByLabel('Done').count()).toBe(0);
    await main.getByRole('link', { name: /^Streams / }).waitFor();
    await page.getByText('updated').waitFor();
    await own.startWorker('billing');
    await main.getByRole('link', { name: /^Functions 3 / }).waitFor();
    await page.getByText('Nothing needs you.').waitFor();
    await own.startWorker('shop');
    await main.getByRole('link', { name: /^Functions 11 / }).waitFor();
    await main.getByRole('link', { name: /^Triggers 5 / }).waitFor();
    await main.getByRole('link', { name: /^Workers 3 / }).click();
    await page.getByRole('heading', { name: 'Workers', level: 1 }).waitFor();
  });

  test('[ACC-1] axe finds nothing serious', async () => {
    await using opened = await openConsole(site.browser, site.scene.url);
    await opened.page.getByRole('main').getByRole('link', { name: 'orders::post' }).waitFor();
    expect(await axeFindings(opened.page)).toEqual([]);
  });
});
