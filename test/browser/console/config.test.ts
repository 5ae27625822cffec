// The Config page, over a real engine.

import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

/** Most modules are absent: the page shows what to add. */
const QUEUE_ONLY = '  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}\n';

describe.skipIf(!hasChromium)('Config', () => {
  const site = consoleSite({ modules: QUEUE_ONLY });

  test('[CFG-1] shows ports with their state, modules, telemetry and both versions', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/config`);
    const { page } = opened;
    const http = page.getByRole('listitem').filter({ hasText: 'HTTP API, from this browser' });
    await http.getByText(/ms$/).waitFor();
    expect(await http.innerText()).toContain(String(site.scene.ports.http));
    await page.getByText('svc-queue').waitFor();
    await page.getByText('Not loaded').first().click();
    await page.getByRole('button', { name: 'Copy configuration' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
  });

  test('[APP-13] on a phone the addresses of the ports are whole', async () => {
    const context = { viewport: { width: 390, height: 844 } };
    await using opened = await openConsole(site.browser, `${site.scene.url}/config`, { context });
    const port = opened.page.getByRole('listitem').filter({ hasText: 'HTTP API, from this browser' });
    const address = port.getByText(`:${site.scene.ports.http}`);
    await address.waitFor();
    expect(await address.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);
    expect(await port.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);
  });

  test('[CFG-2] shows every setting with its source and meaning, and the whole as YAML', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/config?tab=configuration`);
    const { page } = opened;
    const setting = page.getByRole('listitem').filter({ hasText: 'drain_timeout_ms' });
    await setting.getByText('How long running calls may finish').waitFor();
    expect(await setting.first().innerText()).toMatch(/100\s+file/);
    expect(await page.locator('pre').innerText()).toContain('drain_timeout_ms: 100');
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('connections_per_second');
    await page.waitForURL(/q=connections_per_second/);
    await page.getByText('drain_timeout_ms', { exact: true }).waitFor({ state: 'detached' });
  });

  test('[CFG-2] Without alert rules their tab shows how to write them', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/config?tab=alerts`);
    await opened.page.getByRole('heading', { name: 'No alert rules' }).waitFor();
    await opened.page.getByText('metric: svc.invocations.error').waitFor();
    await opened.page.getByRole('button', { name: 'Copy configuration' }).waitFor();
  });
});
