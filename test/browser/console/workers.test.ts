// The Workers page, over a real engine with real workers.

import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

describe.skipIf(!hasChromium)('Workers', () => {
  const site = consoleSite({ workers: ['billing'] });

  test('[WRK-1] lists workers with state, SDK and address, and shows one with its functions and history', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/workers`);
    const { page } = opened;
    const row = page.getByRole('row').filter({ hasText: 'billing' });
    await row.waitFor();
    const text = await row.innerText();
    expect(text).toContain('Available');
    expect(text).toContain('node');
    expect(text).toContain('127.0.0.1');
    await row.getByText('billing').click();
    const detail = page.getByRole('complementary', { name: 'Worker billing' });
    await detail.getByRole('link', { name: 'billing::charge' }).waitFor();
    await detail.getByText('Charges and sends mails').waitFor();
    await detail.getByText('Connected', { exact: true }).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await detail.getByRole('link', { name: 'billing::charge' }).click();
    await page.getByRole('complementary', { name: 'Function billing::charge' }).waitFor();
  });

  test('[APP-13] On a phone the list shows the state of workers, and not their ids', async () => {
    const context = { viewport: { width: 390, height: 844 } };
    await using opened = await openConsole(site.browser, `${site.scene.url}/workers`, { context });
    const { page } = opened;
    await page.getByRole('row').filter({ hasText: 'billing' }).waitFor();
    const names = await page.getByRole('columnheader').allInnerTexts();
    expect(names.map((name) => name.trim())).toEqual(['Name', 'State', 'Functions', 'In flight']);
  });

  test('[WRK-1] A worker that leaves is shown as gone, without a reload', async () => {
    const shop = await site.scene.startWorker('shop');
    await using opened = await openConsole(site.browser, `${site.scene.url}/workers`);
    const row = opened.page.getByRole('row').filter({ hasText: 'shop' });
    await row.getByText('Available').waitFor();
    await shop[Symbol.asyncDispose]();
    await row.getByText('Disconnected').waitFor();
  }, 40_000);
});
