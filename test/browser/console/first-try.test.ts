// The first use of the console: a call fails, and the failure is found from the Dashboard, understood and repaired
// without leaving the console; once with a pointer, once by keyboard only.

import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Enqueue, type HandlerContext, registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium } from '../support/chromium.ts';
import { fillEditor, openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

interface Letter {
  readonly customer: string;
  readonly street?: string;
}

const TABS_MAX = 300;
const WAIT_MS = 30_000;

describe.skipIf(!hasChromium)('A failure is found, understood and repaired', () => {
  const site = consoleSite();
  let worker: SvcWorker;
  const posted: string[] = [];

  beforeAll(async () => {
    worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, { worker_name: 'post office', log: () => {} });
    const post = async ({ customer, street }: Letter, { logger }: HandlerContext): Promise<unknown> => {
      const payload = { scope: 'addresses', key: customer };
      const address = street ?? (await worker.trigger({ function_id: 'state::get', payload }));
      if (address === null || address === undefined) {
        logger.error(`cannot post to ${customer}`, { customer });
        throw new Error(`No address for ${customer}`);
      }
      posted.push(customer);
      return { posted: customer };
    };
    await worker.registerFunction('letters::post', post).ready();
  });

  afterAll(async () => {
    await worker?.shutdown();
  });

  beforeEach(() => {
    posted.length = 0;
  });

  /** Three letters to a recipient without an address. */
  async function letThemFail(customer: string): Promise<void> {
    for (let n = 0; n < 3; n++) {
      await worker.trigger({
        function_id: 'letters::post',
        payload: { customer, n },
        action: Enqueue({ queue: 'mail' }),
      });
    }
    await waitFor('all are dead', async () => (await dead()) === 3, WAIT_MS);
  }

  async function dead(): Promise<number> {
    const { dead: count } = await (await fetch(`${site.scene.url}/api/queues/mail`)).json();
    return count;
  }

  const jobIsOpen = (page: Page): Promise<void> => page.waitForURL(/\/queues\?(?=.*queue=mail)(?=.*id=)/);
  const attention = (page: Page) => page.getByRole('link', { name: /letters::post fails \d+ % of its calls/ });

  test('[DSH-4] [FUN-8] [TRC-17] [QUE-3] with a pointer', async () => {
    await letThemFail('ada');
    await using opened = await openConsole(site.browser, site.scene.url, { expected: /status of [45]\d\d/ });
    const { page } = opened;
    await attention(page).click({ timeout: WAIT_MS });
    const panel = page.getByRole('complementary', { name: 'Function letters::post' });
    await panel.getByRole('tab', { name: 'Logs' }).click();
    await panel.getByText('cannot post to ada').first().waitFor();
    await panel.getByRole('tab', { name: /^Runs/ }).click();
    await panel
      .getByRole('tabpanel')
      .getByRole('link', { name: /Job of mail/ })
      .first()
      .click();
    await page.waitForURL(/\/traces\/[0-9a-f]{32}/);
    await page.getByRole('treegrid').getByRole('row').filter({ hasText: 'Job of mail' }).first().click();
    const span = page.getByRole('complementary', { name: 'Span Job of mail' });
    await span.getByText('No address for ada').first().waitFor();
    await span.getByRole('link', { name: /^[0-9a-f]{8}-/ }).click();
    await jobIsOpen(page);
    // One letter is corrected in its place.
    await page.getByRole('button', { name: 'Edit payload' }).click();
    await fillEditor(page, '{"customer": "ada", "street": "Dorset Street 1"}');
    await page.getByRole('button', { name: 'Redrive with this payload' }).click();
    await page.getByText('1 done, 0 failed, 0 skipped').first().waitFor();
    // The others need the address that they look up.
    await page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /^States/ })
      .click();
    await page.getByRole('button', { name: 'Add item', exact: true }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add item' });
    await dialog.getByLabel('Scope').fill('addresses');
    await dialog.getByLabel('Key').fill('ada');
    await fillEditor(page, '"Dorset Street 1"');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    // The input is tested by hand, then all are redriven.
    await page.goto(`${site.scene.url}/functions?id=letters::post`);
    await fillEditor(page, '{"customer": "ada"}');
    await page.getByRole('button', { name: 'Invoke', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('posted').waitFor();
    await page.goto(site.scene.url);
    await page.getByRole('link', { name: '2 dead letters in mail' }).click({ timeout: WAIT_MS });
    await page.getByRole('button', { name: 'Redrive all', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Redrive', exact: true }).click();
    await page.getByText('2 done, 0 failed, 0 skipped').first().waitFor();
    await page.getByRole('heading', { name: 'No dead letters' }).waitFor();
    await waitFor('all three and the one by hand are posted', () => posted.length === 4, WAIT_MS);
    expect(await dead()).toBe(0);
  }, 120_000);

  test('[KEY-1] [DSH-4] [TRC-17] [QUE-3] by keyboard only', async () => {
    await letThemFail('bob');
    await using opened = await openConsole(site.browser, site.scene.url);
    const { page } = opened;
    await tabTo(page, attention(page));
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Function letters::post' });
    await goToTab(page, panel, /^Logs/);
    await panel.getByText('cannot post to bob').first().waitFor();
    await goToTab(page, panel, /^Runs/);
    await tabTo(page, panel.getByRole('tabpanel').getByRole('link', { name: /Job of mail/ }));
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/traces\/[0-9a-f]{32}/);
    await page.getByRole('treegrid').getByRole('row').first().waitFor();
    const span = page.getByRole('complementary', { name: 'Span Job of mail' });
    await waitFor(
      'a step to the next error leads to the job',
      async () => {
        await page.keyboard.press('Shift+E');
        return (await span.count()) === 1;
      },
      WAIT_MS,
    );
    await span.getByText('No address for bob').first().waitFor();
    await tabTo(page, span.getByRole('link', { name: /^[0-9a-f]{8}-/ }));
    await page.keyboard.press('Enter');
    await jobIsOpen(page);
    await page.getByRole('button', { name: 'Edit payload' }).waitFor();
    await page.keyboard.press('e');
    await tabTo(page, page.locator('.cm-content'));
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('{"customer": "bob", "street": "Baker Street 7"}');
    await page.keyboard.press('Control+Enter');
    await page.getByText('1 done, 0 failed, 0 skipped').first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await press(page, 'g', 's');
    await tabTo(page, page.getByRole('button', { name: 'Add item', exact: true }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add item' });
    await tabTo(page, dialog.getByLabel('Scope'));
    await page.keyboard.press('Control+a');
    await page.keyboard.type('addresses');
    await tabTo(page, dialog.getByLabel('Key'));
    await page.keyboard.type('bob');
    await tabTo(page, dialog.locator('.cm-content'));
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('"Baker Street 7"');
    await page.keyboard.press('Control+Enter');
    await dialog.waitFor({ state: 'detached' });
    await press(page, 'g', 'q');
    await page.getByRole('grid').getByRole('row').filter({ hasText: 'mail' }).waitFor();
    // The queue with trouble comes first.
    await press(page, 'Home', 'Enter');
    await page.waitForURL(/tab=dead/);
    await tabTo(page, page.getByRole('button', { name: 'Redrive all', exact: true }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('alertdialog').getByRole('button', { name: 'Redrive', exact: true }));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No dead letters' }).waitFor();
    await waitFor('all three are posted', () => posted.length === 3, WAIT_MS);
  }, 120_000);
});

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** Presses Tab until the element has the focus: an element that Tab does not reach is unreachable. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.first().waitFor({ timeout: WAIT_MS });
  for (let pressed = 0; pressed < TABS_MAX; pressed += 1) {
    if (await wanted.first().evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${wanted}`);
}

/** Tabs are one stop of Tab; arrow keys move between them. */
async function goToTab(page: Page, within: Locator, name: RegExp): Promise<void> {
  await tabTo(page, within.getByRole('tab', { selected: true }));
  const wanted = within.getByRole('tab', { name });
  for (let pressed = 0; pressed < TABS_MAX; pressed += 1) {
    if (await wanted.evaluate((element) => element === document.activeElement)) {
      await page.keyboard.press('Enter');
      return;
    }
    const focused = await page.evaluateHandle(() => document.activeElement);
    await page.keyboard.press('ArrowRight');
    // The focus moves after the event of the key.
    await page.waitForFunction((before) => document.activeElement !== before, focused);
  }
  throw new Error(`Arrow keys do not reach ${wanted}`);
}
