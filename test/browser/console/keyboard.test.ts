// The daily work without a pointer (KEY-1): a failing function is found from the Dashboard, its trace and logs are
// read.

import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium } from '../support/chromium.ts';
import { openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

const TABS_MAX = 80;

describe.skipIf(!hasChromium)('By keyboard only', () => {
  const site = consoleSite({ workers: ['billing', 'shop'], busy: true });

  /** Presses Tab until the element has the focus: an element that Tab does not reach is unreachable. */
  async function tabTo(page: Page, wanted: Locator): Promise<void> {
    await wanted.first().waitFor();
    for (let pressed = 0; pressed < TABS_MAX; pressed += 1) {
      if (await wanted.first().evaluate((element) => element === document.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not reach ${wanted}`);
  }

  test('[KEY-1] [DSH-4] A failing function leads from the Dashboard to its trace and its logs', async () => {
    await using opened = await openConsole(site.browser, site.scene.url);
    const { page } = opened;
    await tabTo(page, page.getByRole('link', { name: /fails \d+ % of its calls/ }));
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: /^Function / });
    await panel.waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Traces', level: 1 }).waitFor();
    const errors = page.getByRole('button', { name: 'Errors', exact: true });
    await tabTo(page, errors);
    await page.keyboard.press('Enter');
    await page.waitForURL(/f=/);
    // The previous rows stay until the new ones are loaded.
    await page.getByRole('row').filter({ hasText: 'OK' }).first().waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'Error' }).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/traces\/[0-9a-f]{32}/);
    await page.getByRole('treegrid', { name: 'Spans' }).getByRole('row').first().waitFor();
    await page.keyboard.press('Shift+E');
    await page.getByRole('complementary').waitFor();
    expect(page.url()).toContain('span=');
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor();
    await page.getByRole('row').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').waitFor();
    await page.keyboard.press('Escape');
    await waitFor('the record is closed', async () => (await page.getByRole('complementary').count()) === 0);
  });
});
