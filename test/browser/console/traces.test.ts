// The Traces page over recorded answers, for states that a real engine reaches only slowly: running traces, clocks that
// differ, ten thousand spans, hostile names, missing modules.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SeededRandom } from '../../support/random/seeded-random.ts';
import { type ConsoleFixture, startConsoleFixture, traceRow } from '../../support/telemetry/console-fixture.ts';
import { demoLogs, importTrace, orderTrace } from '../../support/telemetry/demo-telemetry.ts';
import { sketchTrace, spanId, TRACE_ID } from '../../support/telemetry/sample-trace.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';

const random = new SeededRandom(7);
const startMs = Date.now() - 60_000;
const failed = orderTrace(random, startMs, 'error');
const fine = orderTrace(random, startMs + 10_000, 'ok');
const large = importTrace(random, startMs + 20_000, 10_000);
const idOf = (spans: readonly { trace_id: string }[]): string => spans[0]?.trace_id ?? '';

describe.skipIf(!hasChromium)('Traces', () => {
  let fixture: ConsoleFixture;
  let browser: Browser;

  beforeAll(async () => {
    const skewed = sketchTrace(
      { id: 'a', at: [10, 20], name: 'parent of another clock' },
      { id: 'b', parent: 'a', at: [0, 4], name: 'early child' },
      { id: 'c', parent: 'lost', at: [12, 14], name: 'orphan' },
      { id: 'd', parent: 'a', at: [12, 13], name: '<img src=x onerror=alert(1)>\u202e', service_name: '"><script>' },
    );
    const logs = demoLogs(random, startMs + 30_000, 20, failed);
    const spans = [...failed, ...fine, ...large, ...skewed];
    [fixture, browser] = await Promise.all([startConsoleFixture({ spans, logs }), launchChromium()]);
  });

  afterAll(async () => {
    await browser?.close();
    await fixture?.[Symbol.asyncDispose]();
  });

  const open = (path: string) => openConsole(browser, `${fixture.url}${path}`);
  const row = (page: Page, text: string | RegExp) => page.getByRole('row').filter({ hasText: text });
  const searches = () => fixture.calls('POST /traces/search');

  test('[TRC-1] lists service, root span, duration, status with the number of errors, spans and start', async () => {
    await using opened = await open('/traces');
    const { page } = opened;
    const text = await row(page, /Error.*×3/s)
      .first()
      .innerText();
    expect(text).toContain('POST /orders');
    expect(text).toMatch(/svc\s\+4/);
    expect(text).toMatch(/\d+ ms/);
    expect(await row(page, 'POST /imports').innerText()).toContain('10 000');
    expect(await page.getByRole('img', { name: '4 traces by start and duration' }).count()).toBe(1);
  });

  test('[TRC-18] A trace is compared with another of its root: new, missing, slower, faster', async () => {
    await using opened = await open(`/traces/${idOf(fine)}`);
    const { page } = opened;
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    const offered = page.getByRole('grid', { name: 'Traces to compare with' });
    await offered.getByRole('row').filter({ hasText: 'POST /orders' }).first().click();
    const spans = page.getByRole('grid', { name: 'Spans of both traces' });
    await spans
      .getByRole('row')
      .filter({ hasText: /Slower|Faster|Added|Missing/ })
      .first()
      .waitFor();
    expect(new URL(page.url()).search).toBe(`?view=compare&with=${idOf(failed)}`);
    expect(await axeFindings(page)).toEqual([]);
    const changed = Number(await spans.getAttribute('aria-rowcount'));
    await page.getByRole('switch', { name: 'Only changes' }).click();
    await spans.getByRole('row').filter({ hasText: 'Same' }).first().waitFor();
    expect(Number(await spans.getAttribute('aria-rowcount'))).toBeGreaterThan(changed);
    await page.reload();
    await spans.getByRole('row').filter({ hasText: 'Same' }).first().click();
    await page.getByRole('complementary').waitFor();
    await page.getByRole('button', { name: 'Choose another trace' }).click();
    await page.getByLabel('Compare with the trace of this id').fill('0'.repeat(31).concat('1'));
    await page.getByRole('button', { name: 'Compare', exact: true }).last().click();
    await page.getByText('The other trace is not stored').waitFor();
  });

  test('[TRC-2] Filters are combined, are in the address, and one can be switched off without removing it', async () => {
    await using opened = await open('/traces');
    const { page } = opened;
    await page.getByRole('button', { name: 'Errors', exact: true }).click();
    await page.getByRole('searchbox', { name: 'Search span names' }).fill('orders');
    await row(page, 'POST /imports').waitFor({ state: 'detached' });
    expect(searches().at(-1)).toMatchObject({ status: 'error', name: 'orders' });
    expect(new URL(page.url()).searchParams.get('f')).toBe('status:error,name:orders');
    await page.getByRole('button', { name: 'Switch filter off: span name has orders' }).click();
    await row(page, 'POST /imports').waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Switch filter off: span name has orders', pressed: true }).waitFor();
  });

  test('[TRC-2] An attribute filter is added with suggestions; a wrong value is explained', async () => {
    await using opened = await open('/traces');
    const { page } = opened;
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'Add a filter' });
    await form.getByLabel('What').selectOption({ label: 'Duration at least (ms)' });
    await form.getByLabel('Value').fill('fast');
    await form.getByRole('button', { name: 'Add filter' }).click();
    await form.getByText('a duration is a number of milliseconds').waitFor();
    await form.getByLabel('What').selectOption({ label: 'Attribute' });
    await form.getByLabel('Name').fill('http.route');
    expect(await form.locator('option[value="http.route"]').count()).toBe(1);
    await form.getByLabel('Value').fill('/orders');
    await form.getByRole('button', { name: 'Add filter' }).click();
    await row(page, 'POST /imports').waitFor({ state: 'detached' });
    expect(searches().at(-1)).toMatchObject({ attributes: [['http.route', '/orders']] });
  });

  test('[EMP-3] Filters without a result are listed, each with a button to remove it', async () => {
    await using opened = await open('/traces?f=name:nothing');
    await opened.page.getByRole('button', { name: 'Remove filter span name has nothing' }).click();
    await row(opened.page, 'POST /imports').waitFor();
  });

  test('[TRC-3] New traces appear live; paused, they wait and are counted', async () => {
    await using opened = await open('/traces');
    const { page } = opened;
    await row(page, 'POST /imports').waitFor();
    const push = (name: string): void => {
      const made = traceRow(orderTrace(random, Date.now(), 'ok'));
      if (made !== undefined) fixture.push('traces', [{ ...made, name }]);
    };
    await fixture.subscribed('traces');
    push('GET /first');
    await row(page, 'GET /first').waitFor();
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    push('GET /second');
    const newest = page.getByRole('button', { name: 'Jump to newest (+1)' });
    await newest.waitFor();
    expect(await row(page, 'GET /second').count()).toBe(0);
    await newest.click();
    await row(page, 'GET /second').waitFor();
  });

  test('[TRC-4] Four views in the address share one selection', async () => {
    await using opened = await open(`/traces/${idOf(failed)}?sides=1`);
    const { page } = opened;
    await row(page, 'Run billing::charge').click();
    await page.getByRole('complementary', { name: 'Span Run billing::charge' }).waitFor();
    for (const [name, view] of [
      ['Flame graph', 'flame'],
      ['Services', 'services'],
      ['Map', 'map'],
    ] as const) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.waitForURL((url) => url.searchParams.get('view') === view);
      expect(await page.getByRole('complementary', { name: 'Span Run billing::charge' }).count()).toBe(1);
    }
    await page.goBack();
    await page.goBack();
    await page.getByRole('region', { name: /Flame graph/ }).waitFor();
  });

  test('[TRC-5] The tree shows depth, durations, self time and errors, and closes', async () => {
    await using opened = await open(`/traces/${idOf(failed)}?sides=1`);
    const { page } = opened;
    const charge = row(page, 'Run billing::charge');
    await charge.waitFor();
    expect(await charge.getAttribute('aria-level')).toBe('5');
    expect(await charge.innerText()).toMatch(/takes .* of its own, failed, on the critical path/);
    await row(page, 'Call billing::charge').getByRole('button', { name: 'Close' }).click();
    await charge.waitFor({ state: 'detached' });
    expect(await row(page, 'Call billing::charge').innerText()).toContain('1 errors below');
    await page.getByRole('combobox', { name: 'Spans shown' }).selectOption('errors');
    await row(page, 'state::set').waitFor({ state: 'detached' });
    expect(await row(page, 'Job of mail').count()).toBe(1);
  });

  test('[TRC-21] A call and its handler are one row with both times, and a switch shows both sides', async () => {
    await using opened = await open(`/traces/${idOf(failed)}`);
    const { page } = opened;
    const step = row(page, 'billing::charge').first();
    await step.waitFor();
    expect(await step.innerText()).toContain('in the worker');
    expect(await row(page, 'Run billing::charge').count()).toBe(0);
    await page.getByRole('button', { name: 'What is shown' }).click();
    await page.getByRole('switch', { name: 'Show both sides of a call' }).click();
    await row(page, 'Run billing::charge').waitFor();
    await row(page, 'Call billing::charge').waitFor();
  });

  test('[TRC-6] Keys zoom and pan, the range is in the address, 0 shows the whole trace again', async () => {
    await using opened = await open(`/traces/${idOf(failed)}?sides=1`);
    const { page } = opened;
    await row(page, 'Run billing::charge').waitFor();
    await page.keyboard.press('w');
    await page.waitForURL((url) => url.searchParams.has('from'));
    await page.keyboard.press('d');
    await page.keyboard.press('0');
    await page.waitForURL((url) => !url.searchParams.has('from'));
    const map = page.getByRole('img', { name: /The whole trace/ });
    const box = await map.boundingBox();
    if (box === null) throw new Error('The minimap has no place');
    await page.mouse.move(box.x + 100, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL((url) => url.searchParams.has('from') && url.searchParams.has('to'));
  });

  test('[TRC-7] The critical path is marked in the tree, can be shown alone, and is summed by service', async () => {
    await using opened = await open(`/traces/${idOf(failed)}?sides=1`);
    const { page } = opened;
    const spans = page.getByRole('treegrid', { name: 'Spans' }).getByRole('row');
    await row(page, 'Run billing::charge').waitFor();
    const all = await spans.count();
    await page.getByRole('combobox', { name: 'Spans shown' }).selectOption('path');
    await waitFor('other spans are gone', async () => (await spans.count()) < all);
    const texts = (await spans.allInnerTexts()).filter((text) => /takes/.test(text));
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.filter((text) => !/on the critical path/.test(text))).toEqual([]);
    await page.getByRole('button', { name: 'Services', exact: true }).click();
    await page.getByRole('columnheader', { name: 'Share of critical path' }).waitFor();
    expect(await row(page, 'billing').innerText()).toMatch(/\d+ %/);
  });

  test('[TRC-12] The flame graph describes a box, opens it, zooms to it, and has a second order', async () => {
    await using opened = await open(`/traces/${idOf(failed)}?view=flame`);
    const { page } = opened;
    const flame = page.getByRole('region', { name: /Flame graph/ });
    const canvas = flame.locator('canvas');
    await canvas.waitFor();
    const position = { x: 200, y: 9 };
    await canvas.hover({ position });
    await flame.getByText('POST /orders').waitFor();
    await canvas.click({ position });
    await page.getByRole('complementary', { name: 'Span POST /orders' }).waitFor();
    await page.getByRole('button', { name: 'By name' }).click();
    await page.waitForURL((url) => url.searchParams.get('order') === 'name');
    await canvas.hover({ position });
    await flame.getByText(/spans?, .* with all below/).waitFor();
    await page.getByRole('button', { name: 'In time order' }).click();
    await canvas.dblclick({ position: { x: 200, y: 28 } });
    await page.waitForURL((url) => url.searchParams.has('from') && url.searchParams.has('to'));
  });

  test('[TRC-8] Find marks and counts matches, also inside closed rows, and steps through them', async () => {
    await using opened = await open(`/traces/${idOf(failed)}?level=1`);
    const { page } = opened;
    await page.getByRole('searchbox', { name: 'Find in trace' }).fill('Job of');
    await page.getByText('2 matches').first().waitFor();
    expect(await row(page, 'Job of mail').count()).toBe(0);
    await page.getByRole('button', { name: 'Next match' }).click();
    await page.getByRole('complementary', { name: 'Span Job of mail' }).waitFor();
    await row(page, 'Job of mail').first().waitFor();
  });

  test('[TRC-10] Ten thousand spans fold, keep the document small, and open', async () => {
    await using opened = await open(`/traces/${idOf(large)}`);
    const { page } = opened;
    const fold = row(page, /×\d+/).first();
    await fold.waitFor();
    expect(await page.getByRole('status').allInnerTexts()).toContainEqual(expect.stringContaining('10 000 spans'));
    await fold.click();
    await page.waitForFunction(() => document.querySelectorAll('[role=treegrid] [role=row]').length > 10);
    expect(await page.getByRole('treegrid').getByRole('row').count()).toBeLessThan(200);
  });

  test('[TRC-11] Unknown parents and clock differences are marked; the correction is optional and reported', async () => {
    await using opened = await open(`/traces/${TRACE_ID}`);
    const { page } = opened;
    await row(page, 'unknown parent').waitFor();
    expect(await row(page, 'early child').innerText()).toContain('starts before its parent');
    await page.getByRole('button', { name: 'What is shown' }).click();
    await page.getByRole('switch', { name: 'Correct clocks' }).click();
    await page.getByText('1 span moved: clocks corrected').waitFor();
  });

  test('[TRC-13] The service breakdown has spans, average, error rate and share of the path, and filters', async () => {
    await using opened = await open(`/traces/${idOf(failed)}?view=services`);
    const { page } = opened;
    const text = await row(page, 'billing').innerText();
    expect(text).toContain('50 % (1)');
    await row(page, 'billing').click();
    await row(page, 'http POST pay.example').waitFor();
    expect(await row(page, 'state::set').count()).toBe(0);
  });

  test('[TRC-14] The map draws calls with counts, and lists them', async () => {
    await using opened = await open(`/traces/${idOf(failed)}?view=map`);
    const { page } = opened;
    const edge = row(page, 'svc-queue');
    await edge.waitFor();
    expect(await edge.innerText()).toMatch(/svc\s+svc-queue\s+2\s+.*\s1/s);
    await page.getByRole('button', { name: 'Functions' }).click();
    await page.getByRole('button', { name: /^billing::charge/ }).waitFor();
  });

  test('[TRC-15] A span has tags, logs, errors with folded library frames and causes, baggage and links', async () => {
    await using opened = await open(`/traces/${idOf(failed)}?sides=1`);
    const { page } = opened;
    await row(page, 'Run billing::charge').click();
    await page.getByRole('tab', { name: /Errors/ }).click();
    const stack = page.getByRole('region', { name: 'Stack' });
    expect(await stack.innerText()).toContain('2 library frames');
    await page.getByRole('list', { name: 'Caused by' }).getByText('HttpError: 402').waitFor();
    await row(page, 'POST /orders').click();
    await page.getByRole('tab', { name: /Baggage/ }).click();
    await page.getByText('tenant', { exact: true }).waitFor();
    await page.getByRole('tab', { name: /Tags/ }).click();
    await page.getByRole('button', { name: 'Actions for http.route' }).click();
    await page.getByRole('menuitem', { name: 'Filter traces by it' }).click();
    await page.waitForURL((url) => url.searchParams.get('f') === 'attr:http.route=/orders');
  });

  test('[TRC-16] A running trace grows while it is shown, and the selection stays', async () => {
    const running = orderTrace(random, Date.now(), 'pending');
    fixture.data.spans.push(...running);
    await using opened = await open(`/traces/${idOf(running)}`);
    const { page } = opened;
    await row(page, 'state::set').click();
    await page.getByRole('complementary', { name: /Span state::set/ }).waitFor();
    const [root] = running;
    const late = { ...root, span_id: spanId('late'), parent_span_id: root?.span_id ?? null, name: 'call late::one' };
    await fixture.subscribed(`trace:${idOf(running)}`);
    fixture.push(`trace:${idOf(running)}`, [late]);
    await row(page, 'late::one').waitFor();
    expect(await page.getByRole('complementary', { name: /Span state::set/ }).count()).toBe(1);
  });

  test('[TRC-17] A span links to its function and its queue job', async () => {
    await using opened = await open(`/traces/${idOf(failed)}`);
    const { page } = opened;
    await row(page, 'enqueue mail::send').click();
    const panel = page.getByRole('complementary');
    expect(await panel.getByRole('link', { name: 'mail::send' }).first().getAttribute('href')).toBe(
      '/functions?id=mail::send',
    );
    expect(await panel.getByRole('link', { name: /^job-o-/ }).getAttribute('href')).toMatch(
      /^\/queues\?queue=mail&id=job-o-/,
    );
  });

  test('[TRC-19] A dropped file is shown and nothing is sent', async () => {
    await using opened = await open('/traces');
    const { page } = opened;
    const events = [{ ph: 'X', name: 'from a file', pid: 1, tid: 1, ts: 0, dur: 9_000 }];
    await row(page, 'POST /imports').waitFor();
    await page.getByLabel('Trace file').setInputFiles({
      name: 'trace.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ traceEvents: events })),
    });
    await row(page, 'from a file').waitFor();
    await page.getByText('From a file, not stored').waitFor();
    expect(fixture.calls('GET /traces/file')).toEqual([]);
  });

  test('[ACC-1] axe finds nothing serious on the list', async () => {
    await using opened = await open('/traces');
    await row(opened.page, 'POST /imports').waitFor();
    expect(await axeFindings(opened.page)).toEqual([]);
  });

  test.each(['waterfall', 'flame', 'services', 'map'])(
    '[ACC-1] axe has no serious finding on the mode %s with a span open',
    async (view) => {
      await using opened = await open(`/traces/${idOf(failed)}?view=${view}&span=${failed[5]?.span_id}`);
      await opened.page.getByRole('tab', { name: 'Info' }).waitFor();
      expect(await axeFindings(opened.page)).toEqual([]);
    },
    60_000,
  );

  test('[ACC-1] Hostile names are text: nothing runs, direction marks are shown', async () => {
    await using opened = await open(`/traces/${TRACE_ID}`);
    await row(opened.page, '<img src=x onerror=alert(1)>⟨202E⟩').click();
    await opened.page.getByRole('complementary').getByText('"><script>').first().waitFor();
  });

  test('[EMP-2] shows what to add to the configuration', async () => {
    const error = {
      code: 'MODULE_MISSING',
      message: 'Traces are not kept',
      details: { module: 'exporter: memory', snippet: 'workers:\n  - name: svc-observability' },
    };
    await using fixture = await startConsoleFixture({ spans: [], logs: [], missing: { path: '/traces', error } });
    await using opened = await openConsole(browser, `${fixture.url}/traces`, { expected: /404/ });
    await opened.page.getByText('Traces need exporter: memory').waitFor();
    await opened.page.getByText('svc-observability').waitFor();
  });
});
