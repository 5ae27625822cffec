// Traces, logs and metrics over a real engine with real workers: calls appear, and are opened.

import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

describe.skipIf(!hasChromium)('Traces of a running engine', () => {
  const site = consoleSite({ workers: ['billing', 'shop'] });

  const open = (path: string) => openConsole(site.browser, `${site.scene.url}${path}`);
  const invoke = (functionId: string, payload: unknown) =>
    fetch(`http://127.0.0.1:${site.scene.ports.http}/_console/v1/invoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ function_id: functionId, payload }),
    });

  test('[TRC-3] [TRC-5] A call appears live and opens as a tree of its spans', async () => {
    await using opened = await open('/traces');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Traces', level: 1 }).waitFor();
    await invoke('orders::echo', { a: 1 });
    const row = page.getByRole('row').filter({ hasText: 'orders::echo' }).first();
    await row.click();
    await page.waitForURL(/\/traces\/[0-9a-f]{32}/);
    const span = page.getByRole('treegrid', { name: 'Spans' }).getByRole('row').filter({ hasText: 'orders::echo' });
    await span.first().waitFor();
    expect(await span.first().innerText()).toContain('takes');
  });

  test('[TRC-1] [TRC-2] Failed calls are distinguishable, and found by filter and pill', async () => {
    await invoke('orders::echo', {});
    await invoke('billing::refund', { id: 'unknown' });
    await invoke('nothing::here', {});
    await using opened = await open('/traces');
    const { page } = opened;
    await page.getByRole('button', { name: 'Errors', exact: true }).click();
    const failed = page.getByRole('row').filter({ hasText: 'nothing::here' }).first();
    await failed.waitFor();
    expect(await failed.innerText()).toContain('Error');
    await page.getByRole('row').filter({ hasText: 'orders::echo' }).first().waitFor({ state: 'detached' });
  });

  test('[FUN-8] A function lists its runs, those that failed on request, and links to the trace of each', async () => {
    await invoke('orders::echo', { a: 1 });
    await invoke('billing::refund', { id: 'unknown' });
    await using opened = await open('/functions?id=orders::echo&tab=runs');
    const { page } = opened;
    const panel = page.getByRole('complementary');
    const runs = panel.getByRole('list', { name: 'Runs' });
    await runs.getByRole('link').first().waitFor();
    expect(await runs.innerText()).toMatch(/on shop · in \d+ B · out \d+ B/);
    await panel.getByRole('slider', { name: /^Calls, \d\d:\d\d to \d\d:\d\d$/ }).waitFor();
    await panel.getByRole('switch', { name: 'Only errors' }).click();
    await panel.getByText('No failed runs').waitFor();
    await panel.getByRole('switch', { name: 'Only errors' }).click();
    await runs.getByRole('link').first().click();
    await page.waitForURL(/\/traces\/[0-9a-f]{32}\?span=[0-9a-f]{16}/);
  });

  test('[APP-16] The range that is chosen on one page holds on the next, and is in the address', async () => {
    await invoke('orders::echo', { a: 1 });
    await using opened = await open('/traces');
    const { page } = opened;
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByRole('button', { name: 'Last 15 minutes' }).click();
    await page.waitForURL(/\/traces\?from=now-15m/);
    // The engine has been running for less than that.
    await page.getByRole('note').filter({ hasText: 'The range begins earlier. All traces since' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'orders::echo' }).first().waitFor();
    await page.getByRole('navigation').getByRole('link', { name: /^Logs/ }).click();
    await page.waitForURL(/\/logs\?from=now-15m/);
    // The address changes before the page does.
    await page.getByRole('heading', { name: 'Logs' }).waitFor();
    await page.getByRole('button', { name: 'Last 15 minutes' }).click();
    await page.getByRole('textbox', { name: 'From' }).fill('soon');
    await page.getByText('A time is now-15m, ISO or Unix milliseconds.').waitFor();
    await page.getByRole('textbox', { name: 'From' }).fill('2000-01-01T00:00:00Z');
    await page.getByRole('textbox', { name: 'Until' }).fill('2000-01-02T00:00:00Z');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page
      .getByText(/No logs match|nothing matches/i)
      .first()
      .waitFor();
    await page
      .getByRole('navigation')
      .getByRole('link', { name: /^Functions/ })
      .click();
    await page.waitForURL(/\/functions\?from=2000-01-01T00:00:00Z&to=2000-01-02T00:00:00Z/);
    const row = page.getByRole('row').filter({ hasText: 'orders::echo' }).first();
    await row.waitFor();
    expect(await row.innerText()).toMatch(/\b0\b/);
  });

  test('[TRC-20] A trace that is not stored is answered with what is stored, and the setting that keeps more', async () => {
    const path = `/traces/${'ab'.repeat(16)}`;
    await using opened = await openConsole(site.browser, `${site.scene.url}${path}`, { expected: /status of 404/ });
    const { page } = opened;
    await page.getByText('This trace is not stored').waitFor();
    await page.getByText(/All traces since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d.* are stored\./).waitFor();
    await page.getByText(/trace_storage of svc-observability/).waitFor();
  });

  test('[TRC-15] The tabs of a span show its tags and its error', async () => {
    const reply = await invoke('nothing::here', {});
    await using opened = await open(`/traces/${reply.headers.get('x-svc-trace-id')}`);
    const { page } = opened;
    await page.getByRole('treegrid', { name: 'Spans' }).getByRole('row').filter({ hasText: 'nothing' }).first().click();
    const panel = page.getByRole('complementary');
    await panel.getByRole('tab', { name: /^Tags/ }).click();
    await panel.getByText('trigger.type').first().waitFor();
    await panel.getByText('console', { exact: true }).first().waitFor();
    await panel.getByRole('tab', { name: /^Errors/ }).click();
    await panel.getByText('FUNCTION_NOT_FOUND').first().waitFor();
  });

  test('[LOG-1] [LOG-3] [LOG-6] Records appear live, are counted by service, and are in the histogram', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor();
    await invoke('engine::log::error', { message: 'the roof is on fire' });
    await page.getByRole('row').filter({ hasText: 'the roof is on fire' }).first().waitFor();
    await page.getByRole('img', { name: /records from .*; drag to choose a range/ }).waitFor();
    await page.getByRole('group', { name: 'Services' }).getByRole('button').first().waitFor();
  });

  test('[FUN-2] [WRK-1] Functions and workers have statistics', async () => {
    await invoke('orders::echo', {});
    await using opened = await open('/functions?q=orders::echo');
    const { page } = opened;
    const row = page.getByRole('row').filter({ hasText: 'orders::echo' });
    await row
      .getByText(/\d (?:ms|µs|s)$/)
      .first()
      .waitFor();
    await page.goto(`${site.scene.url}/workers`);
    await page.getByRole('row').filter({ hasText: 'shop' }).getByText(/MiB/).waitFor();
  });
});
