// The Logs page over recorded answers.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogRow } from '../../../src/console/api/telemetry.ts';
import { SeededRandom } from '../../support/random/seeded-random.ts';
import { type ConsoleFixture, startConsoleFixture } from '../../support/telemetry/console-fixture.ts';
import { demoLogs, orderTrace } from '../../support/telemetry/demo-telemetry.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';

const random = new SeededRandom(11);
const spans = orderTrace(random, Date.now() - 60_000, 'error');
const logs = demoLogs(random, Date.now(), 3_000, spans);
const [newest] = logs.slice(-1);

function record(id: string, body: string, more: Partial<LogRow> = {}): LogRow {
  if (newest === undefined) throw new Error('There are no demo logs');
  const nano = Date.now() * 1e6;
  const times = { timestamp_unix_nano: nano, observed_timestamp_unix_nano: nano };
  return { ...newest, ...times, id, body, severity_text: 'INFO', severity_number: 9, ...more };
}

describe.skipIf(!hasChromium)('Logs', () => {
  let fixture: ConsoleFixture;
  let browser: Browser;

  beforeAll(async () => {
    [fixture, browser] = await Promise.all([startConsoleFixture({ spans, logs }), launchChromium()]);
  });

  afterAll(async () => {
    await browser?.close();
    await fixture?.[Symbol.asyncDispose]();
  });

  const open = (path: string) => openConsole(browser, `${fixture.url}${path}`);
  const row = (page: Page, text: string | RegExp) =>
    page.getByRole('grid', { name: 'Log records' }).getByRole('row').filter({ hasText: text });
  const question = () => fixture.calls('POST /logs/search').at(-1);

  test('[LOG-1] lists newest first, filters by severities, and opens the whole record', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await row(page, 'card ending 4242').first().waitFor();
    await page.getByRole('button', { name: 'ERROR', exact: true }).click();
    await page.getByRole('button', { name: 'WARN', exact: true }).click();
    await row(page, 'order o-').first().waitFor({ state: 'detached' });
    // The first of the two clicks may have removed the row.
    await expect.poll(question).toMatchObject({ severities: ['ERROR', 'WARN'], order: 'desc' });
    await row(page, 'card ending 4242').first().click();
    const detail = page.getByRole('complementary', { name: 'Log record' });
    expect(await detail.getByRole('region', { name: 'Stack' }).innerText()).toContain('2 library frames');
    await detail.getByRole('region', { name: 'The whole record as JSON' }).getByRole('tree').waitFor();
  });

  test('[LOG-1] The columns have headers above their cells; the time header reverses the order', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await row(page, 'order o-').first().waitFor();
    const heads = page.getByRole('columnheader');
    expect((await heads.allInnerTexts()).map((text) => text.trim())).toEqual([
      'Timestamp',
      'Severity',
      'Service',
      'Message',
    ]);
    const cells = row(page, 'order o-').first().getByRole('gridcell');
    for (const [at, head] of (await heads.all()).entries()) {
      expect((await head.boundingBox())?.x).toBe((await cells.nth(at).boundingBox())?.x);
    }
    expect(await heads.first().getAttribute('aria-sort')).toBe('descending');
    await heads.first().getByRole('button').click();
    await page.waitForURL((url) => url.searchParams.get('order') === 'asc');
    expect(await heads.first().getAttribute('aria-sort')).toBe('ascending');
  });

  test('[LOG-1] A record links to its trace and span', async () => {
    await using opened = await open(`/logs?trace=${spans[0]?.trace_id}`);
    const { page } = opened;
    await row(page, '').nth(1).click();
    const link = page.getByRole('complementary', { name: 'Log record' }).getByRole('link').first();
    expect(await link.getAttribute('href')).toMatch(new RegExp(`^/traces/${spans[0]?.trace_id}\\?span=[0-9a-f]{16}$`));
  });

  test('[LOG-1] [LOG-3] Services are counted next to the histogram; dragging over it sets the range', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await page.getByRole('img', { name: /3\s000 records from/ }).waitFor();
    await page
      .getByRole('group', { name: 'Services' })
      .getByRole('button', { name: /^billing/ })
      .click();
    await page.getByRole('button', { name: 'Remove filter: service: billing' }).waitFor();
    const box = await page.getByRole('img', { name: /records from/ }).boundingBox();
    if (box === null) throw new Error('The histogram has no place');
    await page.mouse.move(box.x + box.width * 0.2, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL((url) => url.searchParams.has('from') && url.searchParams.has('to'));
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('from'));
  });

  test('[LOG-2] Terminal colours are shown, links are plain, hostile text stays text', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    const hostile = '<script>alert(1)</script> javascript:alert(1) \u202e\u001b]0;title\u0007\u001b[31mred\u001b[0m';
    await row(page, 'order o-').first().waitFor();
    await fixture.subscribed('logs');
    fixture.push('logs', [record('hostile', hostile)]);
    const text = await row(page, '<script>').innerText();
    expect(text).toContain('<script>alert(1)</script> javascript:alert(1) ⟨202E⟩red');
    expect(await row(page, '<script>').getByRole('link').count()).toBe(0);
    const link = row(page, 'status.pay.example').first().getByRole('link');
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
  });

  test('[LOG-2] Oldest first and wrapping are in the address', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await page.getByRole('switch', { name: 'Oldest first' }).click();
    await page.getByRole('switch', { name: 'Wrap' }).click();
    await page.waitForURL((url) => url.searchParams.get('order') === 'asc' && url.searchParams.get('wrap') === '1');
    await row(page, 'at charge').first().waitFor();
    expect(question()).toMatchObject({ order: 'asc' });
  });

  test('[LOG-4] Each part of a query is a chip that can be switched off, and shows what is wrong with it', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await page.getByRole('searchbox', { name: 'Search logs' }).fill('order severity>=loud');
    await page.getByText("'loud' is not a severity").waitFor();
    await row(page, 'frame').first().waitFor({ state: 'detached' });
    expect(question()).toMatchObject({ q: 'order' });
    await page.getByRole('button', { name: 'Switch filter off: order' }).click();
    await row(page, 'frame').first().waitFor();
    await page.getByRole('button', { name: 'Switch filter off: order', pressed: true }).click();
    await row(page, 'frame').first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Help with searching' }).click();
    await page.getByRole('dialog', { name: 'How to search' }).getByText('"card declined"').waitFor();
  });

  test('[LOG-5] Similar messages fold into one row with a count; messages like one are hidden and counted', async () => {
    await using opened = await open('/logs?group=1');
    const { page } = opened;
    const group = row(page, 'order o-# created');
    expect(await group.innerText()).toMatch(/×\d+/);
    await group.click();
    await row(page, 'order o-997').first().waitFor();
    await row(page, 'order o-997').first().click();
    await page.getByRole('button', { name: 'Hide messages like this' }).click();
    await group.waitFor({ state: 'detached' });
    await page.getByText(/^1 hidden message \(\d+ records\)$/).waitFor();
  });

  test('[LOG-5] An attribute becomes a column', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await row(page, 'order o-').first().click();
    await page.getByRole('button', { name: 'Actions for tenant' }).click();
    await page.getByRole('menuitem', { name: 'Add as column' }).click();
    await page.waitForURL((url) => url.searchParams.get('cols') === 'tenant');
    expect(await row(page, 'order o-').first().innerText()).toMatch(/acme|globex/);
    // With grouping, messages are under the same headers.
    await page.getByRole('switch', { name: 'Group similar' }).click();
    const message = row(page, '×').first().getByRole('gridcell').last();
    await message.waitFor();
    const head = page.getByRole('columnheader', { name: 'Message' });
    expect((await message.boundingBox())?.x).toBe((await head.boundingBox())?.x);
  });

  test('[LOG-3] A single record is a thin bar, and does not fill the histogram', async () => {
    await using opened = await open(`/logs?trace=${'0'.repeat(31)}1`);
    const { page } = opened;
    await page.route('**/api/logs/histogram', async (route) => {
      const times = { start_time: 1_000, end_time: 2_000, bucket_ms: 1_000, services: [] };
      const bucket = { start: 1_000, trace: 0, debug: 0, info: 1, warn: 0, error: 0 };
      await route.fulfill({ json: { ...times, buckets: [bucket] } });
    });
    await page.reload();
    const picture = page.getByRole('img', { name: /^1 record from/ });
    await picture.waitFor();
    const [whole, bar] = [await picture.boundingBox(), await picture.locator('rect').first().boundingBox()];
    expect((bar?.width ?? 0) / (whole?.width ?? 1)).toBeLessThan(0.05);
  });

  test('[LOG-6] Records appear live; paused, they wait and are counted; gaps keep their place', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await row(page, 'order o-').first().waitFor();
    await fixture.subscribed('logs');
    fixture.push('logs', [record('live-1', 'first live one')]);
    fixture.gap('logs', 412);
    await row(page, 'first live one').waitFor();
    await row(page, '412 records left out here').waitFor();
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    fixture.push('logs', [record('live-2', 'second live one')]);
    const jump = page.getByRole('button', { name: 'Jump to newest (+1)' });
    await jump.waitFor();
    expect(await row(page, 'second live one').count()).toBe(0);
    await jump.click();
    await row(page, 'second live one').waitFor();
  });

  test('[LIV-3] While a record is open the list does not move; after it closes, the list continues', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await row(page, 'order o-').first().waitFor();
    await fixture.subscribed('logs');
    fixture.push('logs', [record('live-3', 'third live one')]);
    await row(page, 'third live one').click();
    fixture.push('logs', [record('live-4', 'fourth live one')]);
    await page.getByRole('button', { name: 'Jump to newest (+1)' }).waitFor();
    expect(await row(page, 'fourth live one').count()).toBe(0);
    await page.getByRole('complementary', { name: 'Log record' }).getByRole('button', { name: 'Close' }).click();
    await row(page, 'fourth live one').waitFor();
  });

  test('[LOG-6] The records around one are shown without filters, and Back returns', async () => {
    await using opened = await open('/logs?sev=ERROR');
    const { page } = opened;
    await row(page, 'card ending 4242').first().click();
    await page.getByRole('button', { name: 'Show 50 before and after' }).click();
    await row(page, 'order o-').first().waitFor();
    expect(question()).toMatchObject({ around: { before: 50, after: 50 } });
    expect(question()).not.toHaveProperty('severities');
    await page.goBack();
    await row(page, 'order o-').first().waitFor({ state: 'detached' });
  });

  test('[LOG-6] Words are highlighted without filtering', async () => {
    await using opened = await open('/logs?mark=acme');
    await row(opened.page, 'for acme').first().locator('mark').waitFor();
    await row(opened.page, 'frame').first().waitFor();
  });

  test('[LOG-7] All matching records are exported, page by page', async () => {
    await using opened = await open('/logs?q=frame');
    const { page } = opened;
    await row(page, 'frame').first().waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'All that match, as JSON lines' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('logs.jsonl');
    // The list itself may have been read again in the meantime.
    const asked = expect.objectContaining({ q: 'frame', limit: 1_000 });
    expect(fixture.calls('POST /logs/search')).toContainEqual(asked);
  });

  test('[LOG-7] Text can be selected across rows', async () => {
    await using opened = await open('/logs?sev=WARN');
    const { page } = opened;
    await row(page, 'payment provider').first().waitFor();
    const selected = await page.evaluate(() => {
      const [, ...rows] = document.querySelectorAll('[data-list] [role=row]');
      const range = document.createRange();
      range.setStart(rows[0] ?? document.body, 0);
      range.setEndAfter(rows[2] ?? document.body);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      return String(getSelection());
    });
    expect(selected.match(/payment provider/g)).toHaveLength(3);
  });

  test('[LOG-1] A single-line row has the height that was assumed before it was drawn', async () => {
    await using opened = await open('/logs?sev=INFO');
    const { page } = opened;
    await row(page, '').nth(1).waitFor();
    const rows = row(page, '').filter({ has: page.getByRole('gridcell') });
    const heights = await rows.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
    expect(new Set(heights)).toEqual(new Set([28]));
  });

  test('[LOG-1] Three thousand records keep the document small', async () => {
    await using opened = await open('/logs');
    await row(opened.page, 'order o-').first().waitFor();
    expect(await opened.page.getByRole('row').count()).toBeLessThan(200);
  });

  test('[ACC-1] axe finds nothing serious, also with a record open', async () => {
    await using opened = await open(`/logs?id=${newest?.id}`);
    await opened.page.getByRole('complementary', { name: 'Log record' }).waitFor();
    expect(await axeFindings(opened.page)).toEqual([]);
  });
});
