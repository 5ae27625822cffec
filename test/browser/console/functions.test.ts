// The Functions page, over a real engine with real workers.

import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { hasChromium } from '../support/chromium.ts';
import { axeFindings, openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

describe.skipIf(!hasChromium)('Functions', () => {
  const site = consoleSite({ workers: ['billing', 'shop'] });

  const open = (path = '/functions', expected?: RegExp) =>
    openConsole(site.browser, `${site.scene.url}${path}`, expected === undefined ? {} : { expected });
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

  test('[FUN-1] lists id, triggers, workers and status of every function, and finds one by name', async () => {
    await using opened = await open();
    const { page } = opened;
    await row(page, 'orders::post').waitFor();
    const text = await row(page, 'orders::post').innerText();
    expect(text).toContain('shop');
    expect(text).toContain('Active');
    expect(await row(page, 'orders::post').getByRole('img', { name: 'http' }).count()).toBe(1);
    await page.getByRole('searchbox', { name: 'Search functions' }).fill('charge');
    await row(page, 'orders::post').waitFor({ state: 'detached' });
    expect(await row(page, 'billing::charge').count()).toBe(1);
    expect(new URL(page.url()).search).toBe('?q=charge');
  });

  test('[FUN-2] groups by namespace, with counts, and folds a group', async () => {
    await using opened = await open();
    const { page } = opened;
    const group = page.getByRole('button', { name: /^orders 5$/ });
    await group.click();
    await row(page, 'orders::create').waitFor({ state: 'detached' });
    expect(await group.getAttribute('aria-expanded')).toBe('false');
    await page.getByRole('switch', { name: 'Internal' }).click();
    await row(page, 'engine::functions::list').waitFor();
  });

  test('[EMP-3] a search without a match names its filter and offers to remove it', async () => {
    await using opened = await open('/functions?q=nothing-is-called-that');
    const { page } = opened;
    await page.getByText('Without filters there are 11.').waitFor();
    await page.getByRole('button', { name: 'Remove filter search: nothing-is-called-that' }).click();
    await row(page, 'orders::create').waitFor();
  });

  test('[FUN-4] calls a function and shows its result exactly as received', async () => {
    await using opened = await open('/functions?id=state::set');
    const { page } = opened;
    const invoke = page.getByRole('button', { name: 'Invoke', exact: true });
    await fillInput(page, '{"scope": "exact", "key": "k", "value": {"big": 248480010225057793, "b": 1, "a": 2}}');
    await invoke.click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('OK', { exact: true }).waitFor();
    await page.goto(`${site.scene.url}/functions?id=state::get`);
    await fillInput(page, '{"scope": "exact", "key": "k"}');
    await invoke.click();
    await result.getByText('248480010225057793').waitFor();
    const tree = await result.getByRole('tree').innerText();
    expect(tree.indexOf('b:')).toBeLessThan(tree.indexOf('a:'));
    expect(await result.innerText()).toMatch(/\d+ B/);
  });

  test('[FUN-4] [APP-14] shows the error of a call next to the call', async () => {
    await using opened = await open('/functions?id=orders::create', /status of (?:4|5)\d\d/);
    const { page } = opened;
    await fillInput(page, '{"sku": 7}');
    await page.getByRole('button', { name: 'Invoke', exact: true }).click();
    const alert = page.getByRole('region', { name: 'Result' }).getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toContain('BAD_REQUEST');
    expect(await alert.getByRole('button', { name: 'Copy report' }).count()).toBe(1);
  });

  test('[FUN-5] enqueues, shows the receipt, and follows the job', async () => {
    await using opened = await open('/functions?id=orders::echo');
    const { page } = opened;
    await fillInput(page, '{}');
    await page.getByRole('button', { name: 'Enqueue', exact: true }).click();
    expect(await page.getByRole('button', { name: 'Invoke', exact: true }).isDisabled()).toBe(true);
    await page.getByLabel('Queue', { exact: true }).selectOption('mail');
    await page.getByRole('button', { name: 'Invoke', exact: true }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('Enqueued').waitFor();
    expect(await result.innerText()).toMatch(/[0-9a-f]{8}/);
  });

  test('[FUN-9] invokes many times, some at a time, with progress, latencies and failures', async () => {
    await using opened = await open('/functions?id=billing::charge', /status of 5\d\d/);
    const { page } = opened;
    await fillInput(page, '{"amount": 2}');
    await page.getByText('Invoke many times').click();
    const times = page.getByLabel('Times', { exact: true });
    await times.fill('1001');
    expect(await page.getByRole('button', { name: 'Invoke', exact: true }).last().isDisabled()).toBe(true);
    await times.fill('45');
    await page.getByLabel('At a time').fill('6');
    let [inFlight, most] = [0, 0];
    const isCall = (url: string) => url.endsWith('/api/invoke');
    page.on('request', (request) => {
      if (isCall(request.url())) most = Math.max(most, ++inFlight);
    });
    page.on('response', (response) => isCall(response.url()) && inFlight--);
    await page.getByRole('button', { name: 'Invoke 45 ×' }).click();
    const result = page.getByRole('region', { name: 'Result of the calls' });
    await result.getByText('45 of 45 called, 5 failed').first().waitFor();
    expect(most).toBe(6);
    expect(await result.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('100');
    expect(await result.innerText()).toMatch(/p50 .+ p95 .+ slowest/);
    const counts = await result.getByRole('table').getByRole('cell').allInnerTexts();
    expect(counts.reduce((sum, text) => sum + Number(text), 0)).toBe(40);
    const failures = result.getByRole('list', { name: 'Failures' });
    expect(await failures.innerText()).toMatch(/Card refused: the issuer does not answer[\s\S]*5 ×/);
    expect(await axeFindings(page)).toEqual([]);
    await failures.getByRole('link', { name: 'Trace 1' }).click();
    await page.waitForURL(/\/traces\/[0-9a-f]{32}$/);
    // The call of the page itself has no span: the trace is named by its first span.
    await page.getByRole('heading', { name: 'billing::charge', level: 1 }).waitFor();
  });

  test('[FUN-9] Many calls can be stopped, and earlier results stay', async () => {
    await using opened = await open('/functions?id=billing::refund');
    const { page } = opened;
    let held = 0;
    // The fifth call is never answered: only stopping ends the series.
    await page.route('**/api/invoke', (route) => (++held < 5 ? route.continue() : undefined));
    await fillInput(page, '{}');
    await page.getByText('Invoke many times').click();
    await page.getByLabel('At a time').fill('1');
    await page.getByRole('button', { name: 'Invoke 100 ×' }).click();
    const result = page.getByRole('region', { name: 'Result of the calls' });
    await result.getByText('4 of 100 called, 0 failed').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await result.getByText('4 of 100 called, 0 failed, stopped').first().waitFor();
    await page.getByRole('button', { name: 'Invoke 100 ×' }).waitFor();
  });

  test('[APP-3] [JSN-1] Text typed over a selection replaces it without an inline style', async () => {
    await using opened = await open('/functions?id=orders::create');
    const { page } = opened;
    const editor = page.locator('.cm-content');
    await editor.click();
    for (const text of ['{"sku": "lamp"}', '{"sku": "desk"}', '{\n"sku": "vase"\n}']) {
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText(text);
      expect((await editor.innerText()).replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
    }
  });

  test('[APP-15] A file that is gone from the server since the page was opened is reported, with a reload button', async () => {
    await using opened = await open('/functions', /status of 404|dynamically imported module/);
    const { page } = opened;
    await page.getByRole('row').filter({ hasText: 'orders::echo' }).waitFor();
    await page.route(/code-mirror.*\.js$/, (route) => route.fulfill({ status: 404, body: 'Not found' }));
    await page.getByRole('row').filter({ hasText: 'orders::echo' }).click();
    await page.getByText('A part of the console cannot be loaded').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    await page.locator('.cm-content').waitFor();
  });

  test('[JSN-1] Invalid JSON input cannot be sent, and its position is shown', async () => {
    await using opened = await open('/functions?id=orders::echo');
    const { page } = opened;
    await fillInput(page, '{"a": }');
    await page.getByText('in line 1, column 7').waitFor();
    expect(await page.getByRole('button', { name: 'Invoke', exact: true }).isDisabled()).toBe(true);
  });

  test('[FUN-6] A form and the JSON text are two views of one value', async () => {
    await using opened = await open('/functions?id=orders::create');
    const { page } = opened;
    await page.getByRole('button', { name: 'Form', exact: true }).click();
    await page.getByLabel('sku *').fill('lamp');
    await page.getByLabel('email *').fill('not an address');
    await page.getByText('format "email"').waitFor();
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await page.locator('.cm-content').getByText('"lamp"').waitFor();
  });

  test('[FUN-6] Of a oneOf, the form shows the messages of the chosen alternative', async () => {
    await using opened = await open('/functions?id=orders::create');
    const { page } = opened;
    await fillInput(page, '{"sku": "lamp", "email": "a@b.org", "delivery": {"to": "shop", "shop_id": "x"}}');
    await page.getByRole('button', { name: 'Form', exact: true }).click();
    await page.getByText('must be integer, is string').waitFor();
    await page.getByLabel('delivery to').selectOption('home');
    await page.getByText('must be integer, is string').waitFor({ state: 'detached' });
    expect(await page.getByText(/must |is missing/).count()).toBe(0);
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await fillInput(page, '{"sku": "lamp", "email": "a@b.org", "delivery": {"to": "home"}}');
    await page.getByRole('button', { name: 'Form', exact: true }).click();
    await page.getByText('is missing').waitFor();
    expect(await page.getByText(/must |is missing/).count()).toBe(1);
    expect(await page.getByLabel('street *').getAttribute('aria-invalid')).toBe('true');
  });

  test('[FUN-6] The form names the parts of a schema that it does not check, and checks the others', async () => {
    const worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, {
      handle_signals: false,
      log: () => {},
    });
    const request_format = {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        other: { $ref: 'https://example.org/other' },
        place: { anyOf: [{ type: 'string' }, { type: 'object', required: ['lat', 'lon'] }] },
      },
      unevaluatedProperties: false,
    };
    try {
      await worker.registerFunction({ id: 'foreign::place', request_format }, () => null).ready();
      await using opened = await open('/functions?id=foreign::place');
      const { page } = opened;
      await fillInput(page, '{"size": 1.5, "place": {"lat": 1}}');
      await page.getByRole('button', { name: 'Form', exact: true }).click();
      await page.getByText('The form does not check these parts of the schema').waitFor();
      await page.getByText("keyword 'unevaluatedProperties' is not supported").waitFor();
      await page.getByText("$ref 'https://example.org/other' leads outside").waitFor();
      await page.getByText('must be integer, is number').waitFor();
      await page.getByText('must match at least one of the alternatives. Of the nearest: /lon is missing').waitFor();
      expect(await axeFindings(page)).toEqual([]);
    } finally {
      await worker.shutdown();
    }
  });

  test('[JSN-5] [FUN-7] a draft survives a reload, and calls are remembered', async () => {
    await using opened = await open('/functions?id=stock::check');
    const { page } = opened;
    await fillInput(page, '{"sku": "draft-lamp"}');
    await page.getByText('draft', { exact: true }).waitFor();
    await page.waitForFunction(() => sessionStorage.getItem('svc.draft.invoke.stock::check') !== null);
    await page.reload();
    await page.locator('.cm-content').getByText('draft-lamp').waitFor();
    await page.getByRole('button', { name: 'Invoke', exact: true }).click();
    await page.getByRole('region', { name: 'History' }).getByText('draft-lamp').waitFor();
  });

  test('[FUN-3] A detail stays when its function is gone, reports it, and returns with the function', async () => {
    const connect = async (): Promise<SvcWorker> => {
      const worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, {
        handle_signals: false,
        log: () => {},
      });
      await worker.registerFunction('fleeting::one', () => null).ready();
      return worker;
    };
    const worker = await connect();
    await using opened = await open('/functions?id=fleeting::one', /status of 404/);
    const { page } = opened;
    await page.getByRole('button', { name: 'Invoke', exact: true }).waitFor();
    await worker.shutdown();
    await page.getByText('Not registered since').waitFor();
    expect(await page.getByRole('button', { name: 'Invoke', exact: true }).isDisabled()).toBe(true);
    const again = await connect();
    await page.getByText('Not registered since').waitFor({ state: 'detached' });
    await again.shutdown();
  });

  test('[LIV-1] Changes from before the live socket was open are shown when it opens', async () => {
    const worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, {
      handle_signals: false,
      log: () => {},
    });
    await worker.registerFunction('fleeting::two', () => null).ready();
    await using opened = await open('/functions?id=fleeting::two', /status of 404/);
    const { page } = opened;
    let connect = (): void => {};
    const isHeld = new Promise<void>((resolve) => {
      connect = resolve;
    });
    await page.routeWebSocket('**/api/live', async (socket) => {
      await isHeld;
      socket.connectToServer();
    });
    await page.reload();
    await page.getByRole('button', { name: 'Invoke', exact: true }).waitFor();
    await worker.shutdown();
    connect();
    await page.getByText('Not registered since').waitFor();
  });

  test('[FUN-8] every tab has its content', async () => {
    await using opened = await open('/functions?id=orders::create');
    const { page } = opened;
    for (const [tab, text] of [
      ['Overview', 'Creates an order'],
      ['Workers', 'shop'],
      ['Schema', 'Request'],
      ['Code', 'registerWorker'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tabpanel').getByText(text).first().waitFor();
    }
    expect(new URL(page.url()).searchParams.get('tab')).toBe('code');
  });

  test('[FUN-10] a run shows its input and output, and "Run again" opens the input in the editor', async () => {
    await using opened = await open('/functions?id=billing::charge');
    const { page } = opened;
    await fillInput(page, '{"amount": 12.50, "currency": "eur"}');
    await page.getByRole('button', { name: 'Invoke', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).waitFor();
    await page.goto(`${site.scene.url}/functions?id=billing::charge&tab=runs`);
    await page.getByText('Input and output').first().click();
    await page.getByRole('region', { name: 'Input' }).getByText('12.50').waitFor();
    await page.getByRole('region', { name: 'Output' }).waitFor();
    await page.getByRole('link', { name: 'Run billing::charge again with this input' }).click();
    await page.getByRole('tab', { name: 'Invoke', selected: true }).waitFor();
    await page.locator('.cm-content').first().getByText('12.50').waitFor();
    expect(await page.getByRole('button', { name: 'Invoke', exact: true }).isEnabled()).toBe(true);
  });

  test('[FUN-10] An input of which a part is redacted is sent only when it is complete or accepted', async () => {
    await using opened = await open('/functions?id=billing::charge');
    const { page } = opened;
    const invoke = page.getByRole('button', { name: 'Invoke', exact: true });
    await fillInput(page, '{"amount": 7, "card": {"secret": "4711"}}');
    await invoke.click();
    await page.getByRole('region', { name: 'Result' }).waitFor();
    await page.goto(`${site.scene.url}/functions?id=billing::charge&tab=runs`);
    await page.getByText('Input and output').first().click();
    await page.getByRole('link', { name: 'Run billing::charge again with this input' }).click();
    await page.getByText('Secrets are redacted at /card/secret.').waitFor();
    expect(await invoke.isDisabled()).toBe(true);
    await page.getByRole('switch', { name: 'Send it as it is shown' }).click();
    expect(await invoke.isEnabled()).toBe(true);
    await fillInput(page, '{"amount": 7, "card": {"secret": "4712"}}');
    await page.getByText('Secrets are redacted').waitFor({ state: 'detached' });
    expect(await invoke.isEnabled()).toBe(true);
  });

  test('[KEY-1] [ACC-3] The list is used by keyboard alone, and announces the active row', async () => {
    await using opened = await open();
    const { page } = opened;
    const grid = page.getByRole('grid', { name: 'Functions' });
    await row(page, 'orders::create').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Function billing::charge' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    expect(Number(await grid.getAttribute('aria-rowcount'))).toBeGreaterThan(10);
    await page.keyboard.press('/');
    await page.keyboard.type('jk');
    await page.waitForURL(/q=jk/);
  });

  test('[ACC-1] axe finds nothing serious: list, detail, no match', async () => {
    await using opened = await open('/functions?id=orders::create');
    const { page } = opened;
    await page.locator('.cm-content').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.goto(`${site.scene.url}/functions?q=zzz`);
    await page.getByRole('button', { name: /^Remove filter/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
  });
});

async function fillInput(page: Page, text: string): Promise<void> {
  const editor = page.locator('.cm-content');
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}
