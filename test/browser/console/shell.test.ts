// The frame of every page of the console: navigation, keys, palette, themes, and the state without an engine.

import { describe, expect, test } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';
import { ConsoleScene } from '../support/console-scene.ts';
import { consoleSite } from '../support/console-site.ts';

describe.skipIf(!hasChromium)('the shell of the console', () => {
  const site = consoleSite({ workers: ['billing', 'shop'] });

  test('[APP-6] The navigation opens every page, shows counts, and remembers that it was narrowed', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/functions`);
    const { page } = opened;
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: /^Functions 11$/ }).waitFor();
    await pages.getByRole('link', { name: 'Config' }).click();
    await page.getByRole('heading', { name: 'Config', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Narrow the navigation' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Widen the navigation' }).waitFor();
  });

  test('[KEY-1] g and a letter open a page, ? lists the keys, and letters can be switched off', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/config`);
    const { page } = opened;
    await page.getByRole('heading', { name: 'Config', level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByRole('heading', { name: 'Functions', level: 1 }).waitFor();
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keys' });
    await keys.getByText('Go to Dashboard').waitFor();
    await keys.getByRole('switch', { name: 'Single-letter keys' }).click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Search and commands' }).waitFor();
    expect(await page.getByRole('dialog', { name: 'Keys' }).count()).toBe(0);
  });

  test('[KEY-2] The palette finds pages, functions and workers, runs actions, and recognizes a pasted trace id', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/workers`);
    const { page } = opened;
    await page.getByRole('row').filter({ hasText: 'billing' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Search and commands' });
    await palette.getByRole('option', { name: /^Dashboard/ }).waitFor();
    await page.keyboard.type('orcre');
    await palette.getByRole('option', { name: /^orders::create/ }).waitFor();
    await palette.getByRole('option', { name: 'Invoke orders::create' }).waitFor();
    await page.getByRole('combobox').fill('4bf92f3577b34da6a3ce929d0e0e4736');
    await palette.getByRole('option', { name: 'Open trace 4bf92f3577b34da6a3ce929d0e0e4736' }).waitFor();
    await page.getByRole('combobox').fill('charge');
    await palette.getByRole('option', { name: /^billing::charge/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Function billing::charge' }).waitFor();
  });

  test('[KEY-2] Text typed while the palette loads is its search text, and triggers no key of the page', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/functions`);
    const { page } = opened;
    await page.getByRole('row').filter({ hasText: 'billing::charge' }).waitFor();
    await page.getByRole('grid').focus();
    let typed = (): void => {};
    const isTyped = new Promise<void>((resolve) => {
      typed = resolve;
    });
    await page.route(/assets\/palette-/, async (route) => {
      await isTyped;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('g l refund');
    expect(await page.getByRole('textbox', { name: 'Search and commands' }).inputValue()).toBe('g l refund');
    typed();
    const palette = page.getByRole('dialog', { name: 'Search and commands' });
    await palette.getByRole('combobox').waitFor();
    expect(await palette.getByRole('combobox').inputValue()).toBe('g l refund');
    expect(new URL(page.url()).pathname).toBe('/functions');
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    expect(await page.getByRole('grid').evaluate((grid) => grid === document.activeElement)).toBe(true);
  });

  test('[APP-12] A saved view opens from the palette unchanged, can be replaced, and can be deleted', async () => {
    await using opened = await openConsole(
      site.browser,
      `${site.scene.url}/functions?q=charge&id=billing%3A%3Acharge&tab=code`,
    );
    const { page } = opened;
    const panel = page.getByRole('complementary', { name: 'Function billing::charge' });
    await panel.waitFor();
    const palette = page.getByRole('dialog', { name: 'Search and commands' });
    const choose = async (typed: string, option: string) => {
      await page.keyboard.press('Control+k');
      await palette.getByRole('option', { name: /^Dashboard/ }).waitFor();
      await page.keyboard.type(typed);
      await palette.getByRole('option', { name: option, exact: true }).click();
    };
    await choose('save this', 'Save this view');
    await page.keyboard.type('how / to "charge"');
    await palette.getByRole('option', { name: /^Save as how/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('View saved').first().waitFor();
    await page.goto(`${site.scene.url}/workers`);
    await page.getByRole('row').filter({ hasText: 'billing' }).waitFor();
    await choose('how', 'how / to "charge"');
    await panel.getByRole('tab', { name: 'Code', selected: true }).waitFor();
    expect(await page.getByRole('searchbox', { name: 'Search functions' }).inputValue()).toBe('charge');
    await panel.getByRole('tab', { name: 'Workers' }).click();
    await choose('save this', 'Save this view');
    await page.keyboard.type('how / to "charge"');
    await palette.getByRole('option', { name: /^Replace the view how/ }).click();
    await page.getByText('View saved').first().waitFor();
    await page.goto(`${site.scene.url}/config`);
    // Until the page is mounted, no handler receives its keys.
    await page.getByText('svc-worker-manager').first().waitFor();
    await choose('how', 'how / to "charge"');
    await panel.getByRole('tab', { name: /^Workers/, selected: true }).waitFor();
    await choose('delete the view', 'Delete the view how / to "charge"');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the view' }).click();
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await palette.getByRole('option', { name: /^Dashboard/ }).waitFor();
    await palette.getByRole('option', { name: 'Save this view' }).waitFor();
    expect(await palette.getByText('how / to').count()).toBe(0);
  });

  test('[APP-12] A stored view that points to another host is not opened', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/workers`);
    const { page } = opened;
    await page.getByRole('row').filter({ hasText: 'billing' }).waitFor();
    const scope = `${site.scene.url}/api/states/__console.views/items`;
    await page.request.put(`${scope}/trap`, { data: { value: { address: '//example.invalid/functions' } } });
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'trap', exact: true }).click();
    await page.getByText('The value stored under trap is not an address').first().waitFor();
    expect(page.url()).toBe(`${site.scene.url}/workers`);
    await page.request.delete(`${scope}/trap`);
  });

  test('[APP-7] [APP-8] Theme, density and times survive a reload; the theme holds from the first paint', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/config?tab=preferences`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Light', exact: true }).click();
    await page.getByRole('button', { name: 'Compact' }).click();
    await page.getByRole('button', { name: 'UTC', exact: true }).click();
    await page.goto(`${site.scene.url}/workers`);
    expect(await page.evaluate(() => ({ ...document.documentElement.dataset }))).toMatchObject({
      theme: 'light',
      density: 'compact',
    });
    const time = page.getByRole('row').filter({ hasText: 'billing' }).locator('time');
    expect(await time.innerText()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z$/);
    await time.hover();
    await page.getByText('Nanoseconds').first().waitFor();
  });

  test('[LIV-1] One live socket serves all pages', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/functions`);
    const { page, sockets } = opened;
    for (const name of ['Workers', 'Dashboard', 'Config', 'Functions']) {
      await page
        .getByRole('navigation')
        .getByRole('link', { name: new RegExp(`^${name}`) })
        .click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      expect(sockets()).toBe(1);
    }
  });

  test('[APP-1] [APP-2] Without an engine the page shows the address that it tries, and recovers as the engine comes and goes', async () => {
    await using own = await ConsoleScene.withoutEngine();
    await using opened = await openConsole(site.browser, `${own.url}/functions`, {
      expected: /status of 50\d|WebSocket/,
    });
    const { page } = opened;
    await page.getByRole('heading', { name: 'No engine answers' }).waitFor();
    await page.getByText(String(own.ports.http)).waitFor();
    await own.startEngine();
    await page.getByRole('heading', { name: 'The engine runs and waits for a worker' }).waitFor();
    // EMP-1: the steps are checked off.
    await own.startWorker('billing');
    const row = page.getByRole('row').filter({ hasText: 'billing::charge' });
    await row.waitFor();
    await own.killEngine();
    await page.getByText('The engine does not answer').waitFor();
    expect(await row.count()).toBe(1);
    await own.startEngine();
    await page.getByText('The engine does not answer').waitFor({ state: 'detached' });
  });

  test('[APP-5] A read-only console is marked and offers no change', async () => {
    const url = await site.scene.startConsole({ flags: ['--read-only'] });
    await using opened = await openConsole(site.browser, `${url}/functions?id=billing::refund`);
    const { page } = opened;
    await page.getByText('Read-only', { exact: true }).waitFor();
    await page.getByText('This console is read-only').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Copy link' }).waitFor();
    expect(await page.getByRole('option', { name: 'Save this view' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('button', { name: 'Invoke', exact: true }).count()).toBe(0);
  });

  test('[APP-4] A console with a token asks for it once, and never puts it into an address', async () => {
    const url = await site.scene.startConsole({ flags: ['--host', '0.0.0.0'], env: { SVC_TOKEN: 'to-ken_1' } });
    await using opened = await openConsole(site.browser, `${url}/workers`, { expected: /status of 401|WebSocket/ });
    const { page } = opened;
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('does not accept this token').waitFor();
    await page.getByLabel('Token').fill('to-ken_1');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('row').filter({ hasText: 'svc-console' }).first().waitFor();
    await page.reload();
    await page.getByRole('row').filter({ hasText: 'svc-console' }).first().waitFor();
    expect(addresses.filter((address) => address.includes('to-ken_1'))).toEqual([]);
  });

  test('[APP-13] On a phone a button opens the navigation, and a detail is a sheet', async () => {
    const context = { viewport: { width: 360, height: 740 } };
    await using opened = await openConsole(site.browser, `${site.scene.url}/functions`, { context });
    const { page } = opened;
    await page.getByRole('row').filter({ hasText: 'billing::charge' }).click();
    await page.getByRole('dialog', { name: 'billing::charge' }).getByRole('tab', { name: 'Invoke' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('button', { name: 'Pages' }).click();
    await page.getByRole('dialog', { name: 'Pages' }).getByRole('link', { name: 'Config' }).click();
    await page.getByRole('heading', { name: 'Config', level: 1 }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });

  test('[ACC-1] axe finds nothing serious with the palette or the list of keys open', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/functions`);
    const { page } = opened;
    await page.getByRole('row').filter({ hasText: 'billing::charge' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: /^billing::charge/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});
