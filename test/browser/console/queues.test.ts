// The Queues page, over a real engine with jobs that fail.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Enqueue, registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, fillEditor, openConsole } from '../support/console-page.ts';
import { ALL_MODULES } from '../support/console-scene.ts';
import { consoleSite } from '../support/console-site.ts';

const LETTERS = 6;
/** The delay after a failed first attempt is longer than the tests. */
const LEDGER = 'ledger: {type: fifo, message_group_field: account, max_retries: 3, backoff_ms: 900000}';
const MODULES = ALL_MODULES.replace('queue_configs: {', `queue_configs: {${LEDGER}, `);

describe.skipIf(!hasChromium)('Queues', () => {
  const site = consoleSite({ modules: MODULES });
  let worker: SvcWorker;

  beforeAll(async () => {
    worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, { worker_name: 'letters', log: () => {} });
    // Fails until its payload has the field.
    const post = worker.registerFunction('letters::post', ({ mended, n }: { mended?: boolean; n: number }) => {
      if (mended !== true) throw new Error(`Mailbox ${n} does not exist`);
      return null;
    });
    await post.ready();
    for (let n = 0; n < LETTERS; n++) await enqueue({ n, big: 7 });
  });

  afterAll(async () => {
    await worker?.shutdown();
  });

  const enqueue = (payload: unknown) =>
    worker.trigger({ function_id: 'letters::post', payload, action: Enqueue({ queue: 'mail' }) });
  const open = (path: string, expected?: RegExp) =>
    openConsole(site.browser, `${site.scene.url}${path}`, expected === undefined ? {} : { expected });
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
  const groups = (page: Page) => page.getByRole('region', { name: 'Dead letters by error' });

  test('[QUE-1] lists the queues with their counts, those with trouble first', async () => {
    await using opened = await open('/queues');
    const { page } = opened;
    await row(page, 'mail').getByText(String(LETTERS), { exact: true }).waitFor();
    const names = await page.getByRole('row').allInnerTexts();
    expect(names[1]).toContain('mail');
    expect(await row(page, 'mail').innerText()).toContain('0 of 5');
    expect(await axeFindings(page)).toEqual([]);
    await row(page, 'mail').getByText('standard').click();
    await page.waitForURL(/queue=mail.*tab=dead|tab=dead.*queue=mail/);
  });

  test('[QUE-5] counts attempts and failed attempts over the time range, in the list and on the page', async () => {
    await using opened = await open('/queues?from=now-1h');
    const { page } = opened;
    await page.getByRole('columnheader', { name: 'Attempts' }).waitFor();
    await row(page, 'mail').locator('.text-bad').filter({ hasText: /^12$/ }).waitFor();
    await page.getByRole('note').filter({ hasText: 'Attempts are counted since' }).waitFor();
    await page.goto(`${site.scene.url}/queues?queue=mail&tab=dead&from=now-1h`);
    const chart = page.getByRole('slider', { name: /^Failed attempts/ });
    await chart.waitFor();
  });

  test('A link in a row opens its own target, and not the row as well', async () => {
    await using opened = await open('/queues?queue=mail&tab=dead');
    const { page } = opened;
    await row(page, 'Mailbox').first().getByRole('link', { name: 'letters::post' }).click();
    await page.getByRole('complementary', { name: 'Function letters::post' }).waitFor();
  });

  test('[APP-13] On a phone a receipt, its copy button and the function do not overlap', async () => {
    const context = { viewport: { width: 390, height: 844 }, hasTouch: true };
    await using opened = await openConsole(site.browser, `${site.scene.url}/queues?queue=mail&tab=dead`, { context });
    const { page } = opened;
    const letter = row(page, 'Mailbox').first();
    const copies = letter.getByRole('button', { name: /^Copy/ });
    await copies.first().waitFor();
    for (const copy of await copies.all()) {
      const covers = await copy.evaluate((button) => {
        const { left } = button.getBoundingClientRect();
        const words = [...(button.parentElement?.querySelectorAll('span') ?? [])];
        return words.some((word) => word.getBoundingClientRect().right > left + 1);
      });
      expect(covers).toBe(false);
    }
  });

  test('[QUE-3] groups dead letters by error without digits, and shows the letters of a group', async () => {
    await using opened = await open('/queues?queue=mail&tab=dead');
    const { page } = opened;
    const group = groups(page)
      .getByRole('button', { name: /Mailbox <n> does not exist/ })
      .first();
    await group.waitFor();
    expect(await group.innerText()).toContain(String(LETTERS));
    await group.click();
    await page.waitForURL(/error=/);
    await row(page, 'Mailbox 3 does not exist').waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });

  test('[QUE-2] The detail of a dead letter shows payload and attempts; an empty list names its filters', async () => {
    await using opened = await open('/queues?queue=mail&tab=dead&q=Mailbox+2');
    const { page } = opened;
    await row(page, 'Mailbox 2 does not exist').getByText('Mailbox 2').click();
    const panel = page.getByRole('complementary', { name: /^Job / });
    await panel.getByRole('tree', { name: 'payload' }).getByText('big').waitFor();
    expect(await panel.getByRole('region', { name: 'Attempts' }).innerText()).toContain('Mailbox 2 does not exist');
    await page.goto(`${site.scene.url}/queues?queue=mail&tab=dead&fn=nobody::home`);
    await page.getByRole('button', { name: 'Remove filter function: nobody::home' }).click();
    await row(page, 'Mailbox 2 does not exist').waitFor();
  });

  test('[QUE-2] Each attempt shows time, worker and error, and links to its trace', async () => {
    await using opened = await open('/queues?queue=mail&tab=dead&q=Mailbox+5');
    const { page } = opened;
    await row(page, 'Mailbox 5 does not exist').getByText('Mailbox 5').click();
    const attempts = page.getByRole('region', { name: 'Attempts' }).getByRole('listitem');
    await attempts.first().getByText('Attempt 2').waitFor();
    expect(await attempts.count()).toBe(2);
    expect(await attempts.last().innerText()).toMatch(/Attempt 1.*letters.*then a wait of 200 ms.*Mailbox 5/s);
    expect(await axeFindings(page)).toEqual([]);
    await attempts.first().getByRole('link', { name: 'Open trace' }).click();
    await page.waitForURL(/\/traces\/[0-9a-f]{32}/);
    await page
      .getByRole('treegrid', { name: 'Spans' })
      .getByRole('row')
      .filter({ hasText: 'letters::post' })
      .last()
      .waitFor();
  });

  test('[QUE-3] redrives one with another payload, and shows the result', async () => {
    await using opened = await open('/queues?queue=mail&tab=dead&q=Mailbox+1', /status of 404/);
    const { page } = opened;
    await row(page, 'Mailbox 1 does not exist').getByText('Mailbox 1').click();
    await page.getByRole('button', { name: 'Edit payload' }).click();
    await fillEditor(page, '{"n": 1, "mended": true}');
    await page.getByRole('button', { name: 'Redrive with this payload' }).click();
    await page.getByText('1 done, 0 failed, 0 skipped').first().waitFor();
    await row(page, 'Mailbox 1 does not exist').waitFor({ state: 'detached' });
  });

  test('[QUE-3] purges a selection only when the name of the queue is typed', async () => {
    await using opened = await open('/queues?queue=mail&tab=dead&q=Mailbox+4');
    const { page } = opened;
    await row(page, 'Mailbox 4 does not exist').getByRole('checkbox').click();
    await page.getByRole('button', { name: 'Purge chosen' }).click();
    const dialog = page.getByRole('alertdialog');
    expect(await dialog.getByRole('button', { name: 'Purge' }).isDisabled()).toBe(true);
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('textbox').fill('mail');
    await dialog.getByRole('button', { name: 'Purge' }).click();
    await page.getByText('1 done, 0 failed, 0 skipped').first().waitFor();
    await row(page, 'Mailbox 4 does not exist').waitFor({ state: 'detached' });
  });

  test('[QUE-3] shows the end of a redrive when an older answer about it comes late', async () => {
    await enqueue({ n: 77 });
    await using opened = await open('/queues?queue=mail&tab=dead&q=Mailbox+77', /status of 404/);
    const { page } = opened;
    const end = page.getByText('1 done, 0 failed, 0 skipped').first();
    let isAnswered = false;
    await page.route(/\/api\/tasks\//, async (route) => {
      const response = await route.fetch();
      const task = await response.json();
      // The live socket is faster.
      await end.waitFor();
      await route.fulfill({ response, json: { ...task, state: 'running', done: 0, ended_at: null } });
      isAnswered = true;
    });
    await row(page, 'Mailbox 77 does not exist').getByText('Mailbox 77').click();
    await page.getByRole('button', { name: 'Edit payload' }).click();
    await fillEditor(page, '{"n": 77, "mended": true}');
    await page.getByRole('button', { name: 'Redrive with this payload' }).click();
    await waitFor('the older answer has come', () => isAnswered);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    expect(await end.isVisible()).toBe(true);
  });

  test('[QUE-4] pauses, publishes a job that waits, and resumes', async () => {
    await using opened = await open('/queues?queue=audit&tab=publish');
    const { page } = opened;
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    await page.getByLabel('Function', { exact: true }).fill('letters::post');
    await fillEditor(page, '{"n": 9, "mended": true}');
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByRole('status', { name: 'Result' }).getByText('Published').waitFor();
    await page.getByRole('tab', { name: 'Jobs' }).click();
    await row(page, 'letters::post').getByText('Waiting').waitFor();
    // QUE-2: a waiting job is found by its payload, which the page shows.
    await page.getByRole('searchbox', { name: 'Search jobs' }).fill('"mended"');
    await page.waitForURL(/q=/);
    await row(page, 'letters::post').getByText('Waiting').click();
    await page.getByRole('tree', { name: 'payload' }).getByText('mended').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('searchbox', { name: 'Search jobs' }).fill('');
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('heading', { name: 'No jobs' }).waitFor();
  });

  test('[QUE-4] A FIFO queue shows the head of each group, why it waits, and how many jobs wait for it', async () => {
    const book = (account: string, functionId: string) =>
      worker.trigger({ function_id: functionId, payload: { account, n: 1 }, action: Enqueue({ queue: 'ledger' }) });
    await book('ann', 'letters::post');
    await book('ann', 'letters::post');
    await book('bob', 'nobody::offers');
    await using opened = await open('/queues?queue=ledger&tab=groups');
    const { page } = opened;
    const groupOf = (account: string) => page.getByRole('grid', { name: 'Groups' }).getByRole('row', { name: account });
    await groupOf('ann').getByText('Attempt 1 failed; the next one:').waitFor();
    await groupOf('bob').getByText('No worker offers nobody::offers.').waitFor();
    expect(await groupOf('ann').innerText()).toMatch(/"ann"\s+2\s+Retrying/);
    expect(await axeFindings(page)).toEqual([]);
    await groupOf('ann').getByText('Retrying').click();
    await page.getByRole('complementary', { name: /^Job / }).getByText('Mailbox 1 does not exist').first().waitFor();
    await page.getByRole('tab', { name: 'Jobs' }).click();
    await page.getByRole('textbox', { name: 'Group' }).fill('ann');
    await page.keyboard.press('Enter');
    await row(page, 'letters::post').nth(1).waitFor();
    await row(page, 'nobody::offers').waitFor({ state: 'detached' });
    expect(await row(page, 'letters::post').count()).toBe(2);
  });
});
