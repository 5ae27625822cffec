// The Streams page, over a real engine and a real subscriber.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, fillEditor, openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

describe.skipIf(!hasChromium)('Streams', () => {
  const site = consoleSite();
  let worker: SvcWorker;
  let subscriber: WebSocket;

  beforeAll(async () => {
    worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, { worker_name: 'teller', log: () => {} });
    await set('first', { sku: 'lamp' });
    subscriber = new WebSocket(`ws://127.0.0.1:${site.scene.ports.stream}/stream/orders/new/`);
    await new Promise((resolve, reject) => subscriber.once('open', resolve).once('error', reject));
  });

  afterAll(async () => {
    subscriber?.close();
    await worker?.shutdown();
  });

  const set = (item: string, data: unknown, stream = 'orders') =>
    worker.trigger({
      function_id: 'stream::set',
      payload: { stream_name: stream, group_id: 'new', item_id: item, data },
    });
  const open = (path: string, expected?: RegExp) =>
    openConsole(site.browser, `${site.scene.url}${path}`, expected === undefined ? {} : { expected });
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

  test('[STR-1] [STR-2] shows live messages with counts, and the difference of an update', async () => {
    await using opened = await open('/streams');
    const { page } = opened;
    await page.getByRole('heading', { name: 'Listening' }).waitFor();
    await appears(page, 'watched', (n) => set('watched', { n }));
    await set('watched', { n: 'changed' });
    const update = row(page, 'watched').filter({ hasText: 'changed' });
    await update.waitFor();
    expect(await page.getByRole('main').innerText()).toMatch(/\d+\s+outbound/);
    await update.getByText('update', { exact: true }).click();
    const panel = page.getByRole('complementary', { name: /^Message / });
    await panel.getByRole('tree', { name: 'message' }).waitFor();
    await panel.getByRole('region', { name: 'Difference' }).locator('.cm-mergeView').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test('[STR-4] [LIV-4] While paused, nothing moves and waiting messages are counted; Clear empties the buffer', async () => {
    await using opened = await open('/streams');
    const { page } = opened;
    await appears(page, 'before', (n) => set('before', { n }));
    await page.keyboard.press('p');
    await set('later', { n: 1 });
    await page.getByText(/Paused: \+[1-9]/).waitFor();
    expect(await row(page, 'later').count()).toBe(0);
    await page.keyboard.press('p');
    await row(page, 'later').first().waitFor();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByRole('heading', { name: 'Listening' }).waitFor();
  });

  test('[STR-1] Subscriptions select the streams, and are in the address', async () => {
    await using opened = await open('/streams');
    const { page } = opened;
    const field = page.getByLabel('Stream, or stream/group, to see');
    await page
      .getByRole('form', { name: 'Subscriptions' })
      .locator('option[value=orders]')
      .waitFor({ state: 'attached' });
    // Without a name there is nothing to follow: the button moves the focus to the field.
    await page.getByRole('button', { name: 'Follow' }).click();
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
    await field.fill('orders/new');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sub=orders\/new/);
    await appears(page, 'mine', (n) => set('mine', { n }));
    await page.getByRole('button', { name: 'Leave orders/new' }).click();
    await page.waitForURL(/\/streams$/);
  });

  test('[STR-1] The table of streams lists the groups of each, and its type', async () => {
    await using opened = await open('/streams?tab=browse');
    const cells = row(opened.page, 'orders').getByRole('gridcell');
    await cells.first().waitFor();
    expect(await cells.allInnerTexts()).toEqual(expect.arrayContaining(['new', 'user-defined']));
  });

  test('[STR-3] browses from stream to item, edits it, and shows the subscribers', async () => {
    await using opened = await open('/streams?tab=browse', /status of 404/);
    const { page } = opened;
    await row(page, 'orders').getByText('user-defined').click();
    await row(page, 'new').getByRole('gridcell').last().click();
    await row(page, 'first').getByText('object').click();
    await page.getByRole('complementary', { name: 'Item first' }).getByText('"lamp"').waitFor();
    expect(await page.getByRole('region', { name: 'Subscribers' }).getByRole('listitem').count()).toBe(1);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await fillEditor(page, '{"sku": "vase"}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog', { name: 'Save this?' }).getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('tree', { name: 'data' }).getByText('"vase"').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await row(page, 'first').waitFor({ state: 'detached' });
    await page.getByText('was deleted, or never was').waitFor();
  });

  test('[STR-3] An item is added, and a custom event reaches subscribers', async () => {
    await using opened = await open('/streams?tab=browse&stream=orders&group=new');
    const { page } = opened;
    await page.getByRole('button', { name: 'Add item' }).click();
    const form = page.getByRole('dialog', { name: 'Add item' });
    await form.getByLabel('Item', { exact: true }).fill('added');
    await fillEditor(page, '{"big": 248480010225057793}');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('complementary', { name: 'Item added' }).getByText('248480010225057793').waitFor();
    const heard = new Promise<string>((resolve) => {
      subscriber.on('message', (data) => String(data).includes('order.shipped') && resolve(String(data)));
    });
    await page.getByRole('button', { name: 'Send event' }).click();
    const event = page.getByRole('dialog', { name: 'Send event' });
    await event.getByLabel('Event type').fill('order.shipped');
    await event.getByRole('button', { name: 'Send', exact: true }).click();
    expect(await heard).toContain('order.shipped');
  });

  /** The page subscribes a moment after it is mounted. It does not receive earlier messages. */
  async function appears(page: Page, text: string, send: (n: number) => Promise<unknown>): Promise<void> {
    await expect
      .poll(
        async () => {
          await send(Math.random());
          return await row(page, text).count();
        },
        { timeout: 10_000 },
      )
      .toBeGreaterThan(0);
  }
});
