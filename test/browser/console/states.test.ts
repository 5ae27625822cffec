// The States page, over a real engine.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, fillEditor, openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

describe.skipIf(!hasChromium)('States', () => {
  const site = consoleSite();
  let worker: SvcWorker;

  beforeAll(async () => {
    worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, { worker_name: 'writer', log: () => {} });
    await worker.registerFunction('writer::heard', () => null).ready();
    const trigger = { type: 'state', function_id: 'writer::heard', config: { scope: 'shop' } };
    await worker.registerTrigger(trigger).ready();
    for (const key of ['a:1', 'a:2', 'b:1', 'limits']) await set(key, { max: 1, name: key });
  });

  afterAll(async () => {
    await worker?.shutdown();
  });

  const set = (key: string, value: unknown, scope = 'shop') =>
    worker.trigger({ function_id: 'state::set', payload: { scope, key, value } });
  const get = (key: string) => worker.trigger({ function_id: 'state::get', payload: { scope: 'shop', key } });
  const open = (path: string, expected?: RegExp) =>
    openConsole(site.browser, `${site.scene.url}${path}`, expected === undefined ? {} : { expected });
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  test('[STA-1] [STA-7] Three panels; an entry with a big number is added and read back digit by digit', async () => {
    await using opened = await open('/states');
    const { page } = opened;
    const scopes = page.getByRole('navigation', { name: 'Scopes' });
    await scopes.getByRole('heading', { name: 'Scopes' }).waitFor();
    await scopes.getByText('shop').click();
    await row(page, 'limits').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await button(page, 'Add item').click();
    const dialog = page.getByRole('dialog', { name: 'Add item' });
    await dialog.getByText('It needs a scope and a key.').waitFor();
    await dialog.getByLabel('Key').fill('exact');
    await fillEditor(page, '{"big": 248480010225057793, "one": 1.5}');
    await dialog.getByText('Saving will fire 1 function').waitFor();
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    const panel = page.getByRole('complementary', { name: 'Entry exact' });
    await panel.getByText('248480010225057793').waitFor();
    expect(new URL(page.url()).searchParams.get('key')).toBe('exact');
    expect(await axeFindings(page)).toEqual([]);
  });

  test('[STA-1] shows when each entry was last written, also for writes from before the page was opened', async () => {
    await set('dated', 1);
    await using opened = await open('/states?scope=shop');
    const at = row(opened.page, 'dated').locator('time');
    expect(Date.now() - Date.parse((await at.getAttribute('datetime')) ?? '')).toBeLessThan(60_000);
  });

  test('[STA-2] finds keys on the server, and shows them as a tree', async () => {
    await using opened = await open('/states?scope=shop&q=a:&at=start');
    const { page } = opened;
    await row(page, 'a:2').waitFor();
    expect(await row(page, 'b:1').count()).toBe(0);
    await page.goto(`${site.scene.url}/states?scope=shop&view=:`);
    await page.getByRole('button', { name: 'a 2', exact: true }).click();
    await page.getByTitle('a:2', { exact: true }).waitFor();
  });

  test('[STA-3] Saving shows the difference first, then writes', async () => {
    await using opened = await open('/states?scope=shop&key=a:1');
    const { page } = opened;
    await button(page, 'Edit').click();
    await fillEditor(page, '{"max": 2, "name": "a:1"}');
    await button(page, 'Save').click();
    const dialog = page.getByRole('dialog', { name: 'Save this?' });
    await dialog.locator('.cm-mergeView').waitFor();
    expect(await get('a:1')).toMatchObject({ max: 1 });
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page
      .getByRole('treeitem')
      .filter({ hasText: /^max: *2$/ })
      .waitFor();
    expect(await get('a:1')).toMatchObject({ max: 2 });
  });

  test('[STA-3] [STA-4] An edit survives a change by others, and saving it offers all three ways', async () => {
    await using opened = await open('/states?scope=shop&key=limits', /status of 409/);
    const { page } = opened;
    await button(page, 'Edit').click();
    await fillEditor(page, '{"max": 5}');
    await set('limits', { max: 3 });
    await page.getByText('It changed since this edit began').waitFor();
    expect(await page.locator('.cm-content').innerText()).toContain('5');
    await button(page, 'Save').click();
    await page.getByRole('dialog', { name: 'Save this?' }).getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'It changed since it was read' });
    await dialog.getByRole('button', { name: 'Reload, drop my text' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Overwrite' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await get('limits')).toMatchObject({ max: 5 });
  });

  test('[STA-4] A change of the open value is shown, with the value before', async () => {
    await using opened = await open('/states?scope=shop&key=b:1');
    const { page } = opened;
    await page.getByRole('tree', { name: 'value' }).waitFor();
    await set('b:1', { max: 77 });
    await page.getByRole('button', { name: 'What changed' }).click();
    await page.locator('.cm-mergeView').getByText('77').waitFor();
    await page.getByText('1 of 1').waitFor();
  });

  test('[STA-5] Update operations are previewed first, and their errors are next to them', async () => {
    await using opened = await open('/states?scope=shop&key=a:2&tab=update');
    const { page } = opened;
    await page.getByLabel('Operation 1', { exact: true }).selectOption('increment');
    await page.getByLabel('Path 1').fill('name');
    await button(page, 'Preview').click();
    await page.getByText('increment.not_number').waitFor();
    await page.getByLabel('Path 1').fill('max');
    await page.getByLabel('By 1').fill('41');
    await button(page, 'Preview').click();
    await page.getByRole('region', { name: 'Preview' }).getByText('42').waitFor();
    expect(await get('a:2')).toMatchObject({ max: 1 });
    await button(page, 'Update').click();
    await page.getByRole('region', { name: 'Updated' }).waitFor();
    expect(await get('a:2')).toMatchObject({ max: 42 });
  });

  test('[STA-6] Several entries are deleted when their number is typed; two are compared; lines are imported', async () => {
    for (const key of ['x:1', 'x:2']) await set(key, key, 'spare');
    await using opened = await open('/states?scope=spare');
    const { page } = opened;
    await row(page, 'x:1').getByRole('checkbox').click();
    await row(page, 'x:2').getByRole('checkbox').click();
    await button(page, 'Compare').click();
    await page.getByRole('dialog', { name: 'Compare' }).locator('.cm-mergeView').waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Delete 2').click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByRole('textbox').fill('2');
    await dialog.getByRole('button', { name: 'Delete 2 entries' }).click();
    await page.getByRole('heading', { name: 'Nothing in this scope' }).waitFor();
    await page.getByRole('button', { name: 'Scope actions' }).click();
    await page.getByRole('menuitem', { name: 'Import JSON lines…' }).click();
    await page.getByLabel('JSON lines', { exact: true }).fill('{"key":"y","value":1.50}');
    await page.getByText('1 new, 0 changed, 0 unchanged').waitFor();
    await button(page, 'Write 1 entries').click();
    await row(page, 'y').getByText('1.50').waitFor();
  });

  test('[STA-1] An entry is deleted after a confirmation', async () => {
    await set('doomed', 1);
    await using opened = await open('/states?scope=shop&key=doomed', /status of 404/);
    const { page } = opened;
    await button(page, 'Delete').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await row(page, 'doomed').waitFor({ state: 'detached' });
  });
});
