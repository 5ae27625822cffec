// Scripts in every text that a worker can send: ids, descriptions, configs, log records, spans, errors and payloads.
// The console shows them in a real browser, and none of them runs.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { visibleText } from '../../../src/console/web/kit/json/logic/visible-text.ts';
import { hasChromium, launchChromium } from '../../browser/support/chromium.ts';
import { type ConsolePage, openConsole } from '../../browser/support/console-page.ts';
import { ConsoleScene } from '../../browser/support/console-scene.ts';
import { IDS, plantAll, TEXTS } from '../../support/clients/hostile-texts.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';

describe.skipIf(!hasChromium)('in the pages of the console', () => {
  let scene: ConsoleScene;
  let browser: Browser;
  let worker: RawWorker;
  /** Requests that only a script in one of the texts would make. */
  const asked: string[] = [];

  beforeAll(async () => {
    [scene, browser] = await Promise.all([ConsoleScene.start({ flags: ['--enable-flow'] }), launchChromium()]);
    worker = await RawWorker.connect(`ws://127.0.0.1:${scene.ports.bridge}`);
    await plantAll(worker);
  }, 30_000);

  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]();
    await browser?.close();
    await scene?.[Symbol.asyncDispose]();
  });

  /** Closing the page fails if it made a foreign request or its policy refused something. */
  async function open(path: string): Promise<ConsolePage> {
    const opened = await openConsole(browser, `${scene.url}${path}`, { expected: /404 \(Not Found\)/ });
    opened.page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/hacked')) asked.push(pathname);
    });
    return opened;
  }

  async function expectHarmless(page: Page): Promise<void> {
    const seen = await page.evaluate((planted) => {
      const scripts = [...document.scripts].filter(({ text }) => text.includes('hacked')).length;
      return { hacked: 'hacked' in window, scripts, planted: document.querySelectorAll(planted).length };
    }, PLANTED);
    expect({ ...seen, asked }).toEqual({ hacked: false, scripts: 0, planted: 0, asked: [] });
  }

  test.each(['a script', 'an image that fails', 'a drawing that loads', 'a frame with a document'])(
    '%s runs in a page that inserts it as markup',
    async (name) => {
      const page = await browser.newPage();
      await page.setContent(TEXTS[name] ?? '', { waitUntil: 'commit' });
      await page.waitForFunction(() => 'hacked' in window);
      await page.close();
    },
  );

  test.each([
    ['/functions', /hacked/],
    ['/workers', /hacked/],
    ['/triggers', /hacked/],
    ['/queues?queue=mail&tab=dead', /hacked/],
    ['/states?scope=hostile', /hacked/],
    ['/streams?tab=browse&stream=hostile&group=g', /i17/],
    ['/traces', /hacked/],
    ['/logs', /hacked/],
    ['/flow', /hacked/],
  ])('no text runs on %s', async (path, shown) => {
    await using opened = await open(path);
    await opened.page.locator('main').getByText(shown).first().waitFor();
    await expectHarmless(opened.page);
  });

  describe.each([
    ['the id, the description and the schema of a function', '/functions', (text: string) => ({ id: text })],
    ['the scope, the key and the value of a state', '/states', (text: string) => ({ scope: text, key: text })],
  ])('as %s', (_what, path, query) => {
    let opened: ConsolePage;

    beforeAll(async () => {
      opened = await open(path);
    });
    afterAll(() => opened[Symbol.asyncDispose]());

    test.each(Object.entries(TEXTS))('%s is shown as text', async (_name, text) => {
      const { page, problems } = opened;
      await visit(page, `${path}?${new URLSearchParams(query(text))}`);
      await page.getByRole('complementary').getByText(visibleText(text)).first().waitFor();
      await expectHarmless(page);
      expect(problems).toEqual([]);
    });
  });

  test.each([
    ['/functions', 'q'],
    ['/logs', 'f'],
    ['/traces', 'id'],
    ['/queues', 'queue'],
  ])('a script in the link to %s, parameter %s, does not run', async (path, name) => {
    await using opened = await open(`${path}?${new URLSearchParams({ [name]: `${IDS[1]}${IDS[4]}` })}#${IDS[4]}`);
    await opened.page.locator('main').waitFor();
    await expectHarmless(opened.page);
  });
});

/** Opens another address in the same document, like a link of the page. */
async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to);
    dispatchEvent(new PopStateEvent('popstate'));
  }, address);
}

/** The elements that the texts would create as markup. */
const PLANTED = [
  ...['img[onerror]', 'svg[onload]', 'iframe', 'base', '[onfocus]', 'a[href^="javascript:"]', 'a[href^="data:"]'],
  ...['form[action*=hacked]', 'meta[http-equiv=refresh]'],
].join();
