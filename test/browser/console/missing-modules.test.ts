// An engine with the fewest modules: each page shows what is missing, and what to add (EMP-2).

import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

describe.skipIf(!hasChromium)('a bare engine', () => {
  const modules = '  - {name: svc-observability, config: {enabled: false, logs_enabled: false}}\n';
  const site = consoleSite({ modules });

  const open = (path: string) => openConsole(site.browser, `${site.scene.url}${path}`, { expected: /status of 404/ });

  test.each([
    { path: '/queues', module: 'svc-queue', setting: 'name: svc-queue' },
    { path: '/states', module: 'svc-state', setting: 'name: svc-state' },
    { path: '/traces', module: 'exporter: memory', setting: 'name: svc-observability' },
    { path: '/logs', module: 'logs_enabled: true', setting: 'name: svc-observability' },
  ])('[EMP-2] $path needs $module and says what to add', async ({ path, module, setting }) => {
    await using opened = await open(path);
    const { page } = opened;
    await page.getByRole('heading', { name: new RegExp(` need ${module}$`) }).waitFor();
    await page.getByText(setting).first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test('[TRG-1] [EMP-2] A kind whose module is not loaded shows what to add', async () => {
    await using opened = await open('/triggers');
    const { page } = opened;
    const tab = page.getByRole('tab', { name: 'Cron not available' });
    await tab.waitFor();
    expect(await tab.getAttribute('title')).toContain('svc-cron');
    await tab.click();
    await page.getByText('name: svc-cron').first().waitFor();
    await page.getByRole('tab', { name: /HTTP/ }).click();
    await page.getByRole('heading', { name: 'No HTTP triggers yet' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
