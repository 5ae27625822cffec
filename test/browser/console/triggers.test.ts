// The Triggers page, over a real engine with real workers.

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

interface Bound {
  readonly id: string;
  readonly trigger_type: string;
  readonly function_id: string;
}

describe.skipIf(!hasChromium)('Triggers', () => {
  const site = consoleSite({ workers: ['billing', 'shop', 'office'] });

  const open = (path = '/triggers', expected?: RegExp) =>
    openConsole(site.browser, `${site.scene.url}${path}`, expected === undefined ? {} : { expected });
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

  async function addressOf(type: string, functionId: string): Promise<string> {
    const answer = await fetch(`${site.scene.url}/api/triggers?limit=1000`);
    const { items } = (await answer.json()) as { items: readonly Bound[] };
    const found = items.find((one) => one.trigger_type === type && one.function_id === functionId);
    return `/triggers?id=${encodeURIComponent(found?.id ?? 'none')}`;
  }

  test('[TRG-1] groups by kind, with a tab and a count for each', async () => {
    await using opened = await open();
    const { page } = opened;
    await row(page, '/orders').first().waitFor();
    await page.getByRole('button', { name: /^HTTP 6$/ }).waitFor();
    await page.getByRole('tab', { name: /^Cron\s*3$/ }).click();
    await row(page, '*/2 * * * * *').waitFor();
    await row(page, 'api::order').first().waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('kind')).toBe('cron');
    await page.getByRole('tab', { name: /^Stream\s*2$/ }).click();
    await row(page, 'audit::joined').waitFor();
  });

  test('[TRG-1] [APP-13] On a phone every path is whole: the heads of the groups show the type', async () => {
    const context = { viewport: { width: 390, height: 900 } };
    await using opened = await openConsole(site.browser, `${site.scene.url}/triggers`, { context });
    const { page } = opened;
    for (const path of ['/api/orders', '/api/orders/:id', '/api/orders/latest']) {
      const shown = page.getByRole('gridcell').getByText(path, { exact: true }).first();
      await shown.waitFor();
      expect(await shown.evaluate((text) => text.scrollWidth <= text.clientWidth)).toBe(true);
    }
  });

  test('[TRG-3] Requests that another route takes are shown in the detail too, not only on hover', async () => {
    await using opened = await open(await addressOf('http', 'api::order_by_id'));
    const detail = opened.page.getByRole('complementary', { name: /^Trigger/ });
    await detail.getByText('Requests for /api/orders/latest go to api::latest_order (shadowed)').waitFor();
  });

  test('[TRG-2] A trigger without its function is inactive, with the reason', async () => {
    await using opened = await open(await addressOf('http', 'api::cancel'));
    const { page } = opened;
    const status = row(page, 'api::cancel').getByText('Inactive');
    await status.waitFor();
    const detail = page.getByRole('complementary', { name: /^Trigger/ });
    await detail.getByText('api::cancel is not registered').waitFor();
  });

  test('[TRG-3] sends a request with its parameters, and shows the response with its trace', async () => {
    await using opened = await open(await addressOf('http', 'api::order_by_id'));
    const { page } = opened;
    const send = page.getByRole('button', { name: 'Send', exact: true });
    await send.waitFor();
    expect(await send.isDisabled()).toBe(true);
    await page.getByLabel(':id', { exact: true }).fill('o/1 ü');
    await page.getByRole('button', { name: 'Query parameter' }).click();
    await page.getByLabel('Query parameter: name').fill('full');
    await page.getByLabel('Query parameter: value').fill('1&2');
    await send.click();
    const response = page.getByRole('region', { name: 'Response' });
    await response.getByText('200 OK').waitFor();
    expect(await response.getByRole('tree').innerText()).toContain('o/1 ü');
    expect(await response.getByRole('status').innerText()).toMatch(/ms.*B/s);
    await response.getByRole('link', { name: 'Open trace' }).click();
    await page.getByText('api::order_by_id').first().waitFor();
  });

  test('[TRG-3] sends a JSON body with POST, and shows an error response', async () => {
    await using opened = await open(await addressOf('http', 'orders::post'));
    const { page } = opened;
    await fill(page, 'Body', '{"sku": "lamp", "email": "a@b.c", "quantity": 1}');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const response = page.getByRole('region', { name: 'Response' });
    await response.getByText('201 Created').waitFor();
    await page.getByLabel('Path', { exact: true }).fill('/nowhere');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await response.getByText('404 Not Found').waitFor();
  });

  test('[TRG-3] marks a route that loses some of its requests to another', async () => {
    await using opened = await open('/triggers?kind=http');
    const { page } = opened;
    const mark = row(page, 'api::order_by_id').getByTitle('/api/orders/latest');
    expect(await mark.innerText()).toBe('shadowed');
  });

  test('[TRG-4] shows a cron expression in words and its next runs, and runs it now', async () => {
    await using opened = await open(await addressOf('cron', 'stock::nightly'));
    const { page } = opened;
    const schedule = page.getByRole('region', { name: 'Schedule' });
    await schedule.getByText('Every 5 minutes').waitFor();
    expect(await schedule.getByRole('row').count()).toBe(6);
    await schedule.getByRole('button', { name: 'Trigger now' }).click();
    await schedule.getByRole('status').getByText('Handed to stock::nightly').waitFor();
    const firings = page.getByRole('region', { name: 'Last firings' });
    await firings.getByRole('link', { name: 'Open trace' }).first().waitFor();
  });

  test('[TRG-5] emits an event and shows which triggers it fired', async () => {
    await using opened = await open(await addressOf('event', 'users::welcome'));
    const { page } = opened;
    expect(await page.getByLabel('Event', { exact: true }).inputValue()).toBe('user.created');
    await fill(page, 'Payload', '{"name": "Ada"}');
    await page.getByRole('button', { name: 'Emit', exact: true }).click();
    const emit = page.getByRole('region', { name: 'Emit this event' });
    await emit.getByText('Fired 2 of its triggers').waitFor();
    await emit.getByRole('link', { name: 'audit::newsletter' }).waitFor();
  });

  test('[TRG-6] shows the filter of a state trigger in words, and where to make the change', async () => {
    await using opened = await open(await addressOf('state', 'orders::changed'));
    const { page } = opened;
    const detail = page.getByRole('complementary', { name: /^Trigger/ });
    await detail.getByText('When any key of the scope “orders” changes').first().waitFor();
    const link = page.getByRole('link', { name: 'Change it in States' });
    expect(await link.getAttribute('href')).toBe('/states?scope=orders');
  });

  test('[TRG-7] shows a condition as its own step, and evaluates it', async () => {
    await using opened = await open(await addressOf('state', 'audit::order'));
    const { page } = opened;
    const step = page.getByRole('region', { name: 'Condition' });
    await step.getByRole('link', { name: 'audit::is_large' }).waitFor();
    await fill(page, 'Event to evaluate', '{"new_value": {"quantity": 1}}');
    await step.getByRole('button', { name: 'Evaluate now' }).click();
    await step.getByText('It returned false: the function is not called').waitFor();
    await fill(page, 'Event to evaluate', '{"new_value": {"quantity": 3}}');
    await step.getByRole('button', { name: 'Evaluate now' }).click();
    await step.getByText('It returned true: the function is called').waitFor();
  });

  test('[APP-5] A read-only console fires nothing', async () => {
    const url = await site.scene.startConsole({ flags: ['--read-only'] });
    await using opened = await openConsole(site.browser, `${url}/triggers?q=nightly`);
    const { page } = opened;
    await row(page, 'stock::nightly').click();
    await page.getByRole('region', { name: 'Schedule' }).waitFor();
    expect(await page.getByRole('button', { name: 'Trigger now' }).count()).toBe(0);
    const body = JSON.stringify({ method: 'GET', path: '/orders', headers: [] });
    const headers = { 'content-type': 'application/json' };
    const refused = await fetch(`${url}/api/http-request`, { method: 'POST', headers, body });
    expect(refused.status).toBe(403);
  });

  test('[ACC-1] [KEY-1] opened by keyboard, without findings of axe', async () => {
    await using opened = await open('/triggers?kind=http');
    const { page } = opened;
    await row(page, '/orders').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Request' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  async function fill(page: Page, label: string, text: string): Promise<void> {
    const editor = page.getByRole('textbox', { name: label, exact: true });
    await editor.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText(text);
  }
});
