// Names and values that try to break a page, on every page of a real engine (console 9): none of them runs or is
// mangled, none widens a page beyond its window, and no list holds more rows than are visible.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visibleText } from '../../../src/console/web/kit/json/logic/visible-text.ts';
import { Enqueue, registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium } from '../support/chromium.ts';
import { openConsole } from '../support/console-page.ts';
import { consoleSite } from '../support/console-site.ts';

const NAMES = [
  '<img src=x onerror="window.hacked=1">',
  '"><script>window.hacked=1</script>',
  'javascript:window.hacked=1',
  '\u202egnp.exe\u200b',
  '👩‍👩‍👧‍👦 a/b:c%2f?#&=+',
  "'; -- $(x) {{x}} \\",
  'n'.repeat(256),
];
const [MARKUP = ''] = NAMES;
/** Digits, order and forms that a parser would change. */
const VALUE = '{"__proto__":{"a":1},"big":12345678901234567890,"huge":1e308,"one":1.0,"":"","nul":"\\u0000\\u202e"}';
const DEPTH = 100;
const DEEP = `${'{"d":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`;
const KEYS = 3_000;
const ROWS_MAX = 200;

describe.skipIf(!hasChromium)('hostile data', () => {
  const site = consoleSite({ flags: ['--enable-flow'] });
  let worker: SvcWorker;

  beforeAll(async () => {
    worker = registerWorker(`ws://127.0.0.1:${site.scene.ports.bridge}`, { worker_name: MARKUP, log: () => {} });
    await put(MARKUP, 'value', VALUE);
    await put(MARKUP, 'deep', DEEP);
    await put(MARKUP, 'long', JSON.stringify('x'.repeat(1_000_000)));
    const keys = Array.from({ length: KEYS }, (_none, at) => ({ scope: 'many', key: `k${at}`, value: at }));
    await Promise.all(keys.map((payload) => worker.trigger({ function_id: 'state::set', payload })));
    for (const name of NAMES) await fill(name);
    await waitFor('a letter is dead', async () => {
      const { items } = await (await fetch(`${site.scene.url}/api/queues?q=mail`)).json();
      return items[0].dead >= NAMES.length;
    });
  });

  afterAll(async () => {
    await worker?.shutdown();
  });

  /** One object of every kind with that name, and a call of it that fails with it. */
  async function fill(name: string): Promise<void> {
    const fail = async (): Promise<never> => {
      await worker.trigger({ function_id: 'engine::log::error', payload: { message: logText(name) } });
      throw new Error(name);
    };
    await worker.registerFunction({ id: name, description: name }, fail).ready();
    const trigger = { type: 'event', function_id: name, config: { topic: 'hostile.event' }, metadata: { name } };
    await worker.registerTrigger(trigger).ready();
    await worker.trigger({ function_id: name, payload: { name } }).catch(() => {});
    await worker.trigger({ function_id: name, payload: { name }, action: Enqueue({ queue: 'mail' }) });
    await worker.trigger({ function_id: 'state::set', payload: { scope: name, key: name, value: { [name]: name } } });
    const payload = { stream_name: name, group_id: name, item_id: name, data: { [name]: name } };
    await worker.trigger({ function_id: 'stream::set', payload });
  }

  const logText = (name: string): string => `\u001b[31m${name}\u001b[0m\n${'long '.repeat(2_000)}`;

  async function put(scope: string, key: string, text: string): Promise<void> {
    const place = `${site.scene.url}/api/states/${encodeURIComponent(scope)}/items/${encodeURIComponent(key)}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(place, { method: 'PUT', headers, body: `{"value":${text}}` });
    expect([answer.status, await answer.text()]).toEqual([200, expect.anything()]);
  }

  const query = (params: Readonly<Record<string, string>>): string => `?${new URLSearchParams(params)}`;

  async function expectSound(page: Page): Promise<void> {
    const seen = await page.evaluate(() => ({
      hacked: 'hacked' in window,
      images: document.querySelectorAll('img[onerror], a[href^="javascript:"]').length,
      rows: document.querySelectorAll('[role=row]').length,
      overflows: document.documentElement.scrollWidth > innerWidth,
    }));
    expect(seen).toMatchObject({ hacked: false, images: 0, overflows: false });
    expect(seen.rows).toBeLessThanOrEqual(ROWS_MAX);
  }

  test.each([
    { path: '/functions' },
    { path: '/workers', only: MARKUP },
    { path: '/triggers' },
    { path: '/queues?queue=mail&tab=dead' },
    { path: '/states' },
    { path: '/streams?tab=browse' },
    { path: '/traces?f=status%3Aerror' },
    { path: '/logs' },
    { path: '/flow' },
    { path: '/', only: MARKUP },
  ])('every name is text on $path', async ({ path, only }) => {
    await using opened = await openConsole(site.browser, `${site.scene.url}${path}`);
    const { page } = opened;
    for (const name of only === undefined ? NAMES : [only]) {
      // A long name is cut in its middle.
      const shown = name.length > 200 ? /n{5,}/ : visibleText(name);
      await page.getByText(shown).filter({ visible: true }).first().waitFor();
    }
    await expectSound(page);
  });

  const sampled = NAMES.filter((_name, at) => at % 3 === 0);
  test.each(sampled.map((name) => ({ name: name.slice(0, 40), id: name })))(
    'the details of $name open',
    async ({ id }) => {
      await using opened = await openConsole(site.browser, `${site.scene.url}/functions${query({ id })}`);
      const { page } = opened;
      await page.getByRole('complementary').getByRole('button', { name: 'Invoke', exact: true }).waitFor();
      await expectSound(page);
      await page.goto(`${site.scene.url}/states${query({ scope: id, key: id })}`);
      await page.getByRole('complementary').getByRole('tree').waitFor();
      await expectSound(page);
    },
  );

  test('[JSN-2] Numbers, keys and marks are shown as they are stored', async () => {
    await using opened = await openConsole(
      site.browser,
      `${site.scene.url}/states${query({ scope: MARKUP, key: 'value' })}`,
    );
    const panel = opened.page.getByRole('complementary');
    for (const text of ['12345678901234567890', '1e308', '1.0', '__proto__: ', '""', String.raw`"\u0000\u202e"`]) {
      await panel.getByText(text, { exact: true }).first().waitFor();
    }
    await expectSound(opened.page);
  });

  test.each(['deep', 'long'])('[JSN-4] a %s value opens', async (key) => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/states${query({ scope: MARKUP, key })}`);
    await opened.page.getByRole('complementary').getByRole('tree').waitFor();
    await expectSound(opened.page);
  });

  test('[JSN-3] A value over 256 KiB opens folded, one over 4 MiB as its beginning with its size', async () => {
    const entries = Array.from({ length: 20_000 }, (_none, at) => `"k${at}":{"n":${at}.0}`);
    await put('large', 'tree', `{"all":{${entries.join(',')}}}`);
    await worker.registerFunction('large::text', () => 'x'.repeat(4 * 1_024 * 1_024)).ready();
    await using opened = await openConsole(
      site.browser,
      `${site.scene.url}/states${query({ scope: 'large', key: 'tree' })}`,
    );
    const panel = opened.page.getByRole('complementary');
    const all = panel.getByRole('treeitem', { expanded: false }).filter({ hasText: 'all' });
    await all.waitFor();
    expect(await panel.getByRole('treeitem').count()).toBe(2);
    await all.getByRole('button', { name: 'Unfold' }).click();
    await panel.getByRole('treeitem').filter({ hasText: 'k3' }).first().waitFor();
    await expectSound(opened.page);
    await opened.page.goto(`${site.scene.url}/functions?id=large::text`);
    await panel.getByRole('button', { name: 'Invoke', exact: true }).click();
    await panel.getByText('The first 4.00 KiB of 4.00 MiB.').waitFor();
    await panel.getByRole('button', { name: 'Download the whole value' }).waitFor();
  });

  test('[JSN-3] A value of nearly 4 MiB is unfolded and searched without blocking the page', async () => {
    const items = Array.from({ length: 95_000 }, (_none, at) => `{"k":${at},"t":"some words of ${at}"}`);
    await worker.registerFunction('large::list', () => items.map((text) => JSON.parse(text))).ready();
    await using opened = await openConsole(site.browser, `${site.scene.url}/functions?id=large::list`);
    const { page } = opened;
    const panel = page.getByRole('complementary');
    await panel.getByRole('button', { name: 'Invoke', exact: true }).click();
    const tree = panel.getByRole('tree', { name: 'result' });
    await tree.getByRole('treeitem', { expanded: true }).waitFor({ timeout: 60_000 });
    const frames = await page.evaluateHandle(() => {
      const seen = { busy: 0 };
      const look = (): void => {
        if (document.querySelector('[role=tree][aria-busy=true]') !== null) seen.busy += 1;
        requestAnimationFrame(look);
      };
      look();
      return seen;
    });
    await panel.getByRole('button', { name: 'Unfold all' }).click();
    await panel.getByText('Only the first 250 000 rows are shown.').waitFor({ timeout: 60_000 });
    // Frames were painted during the layout: it did not block them.
    expect(await frames.evaluate(({ busy }) => busy)).toBeGreaterThan(1);
    await panel.getByRole('textbox', { name: 'Find in result' }).fill('words of 94999');
    await tree.getByRole('treeitem').filter({ hasText: 'words of 94999' }).waitFor({ timeout: 60_000 });
    await tree.and(page.locator('[aria-busy=false]')).waitFor();
    expect(await tree.getByRole('treeitem').count()).toBe(3);
    await expectSound(page);
  });

  test('[STA-2] Thousands of keys scroll as one list, with few rows in the document', async () => {
    await using opened = await openConsole(site.browser, `${site.scene.url}/states?scope=many`);
    const { page } = opened;
    const grid = page.getByRole('grid').first();
    await grid.getByRole('row').nth(3).waitFor();
    await grid.getByRole('row').nth(3).click();
    await page.keyboard.press('End');
    await grid.getByRole('row').filter({ hasText: /^k\d/ }).first().waitFor();
    await expectSound(page);
  });
});
