// The real browser of the tests: Debian's Chromium, driven through playwright-core.

import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import type * as Http from '../../../src/browser-sdk/http.ts';
import type * as Sdk from '../../../src/browser-sdk/index.ts';

const PLACES = [process.env.CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const PLACE = PLACES.find((place) => place !== '' && existsSync(place));

const HOW_TO_GET_IT = 'apt-get install chromium, or name the program in CHROMIUM';

/** Without a browser its tests are skipped, except in CI, where they fail. */
export const hasChromium = PLACE !== undefined;
if (!hasChromium && process.env.CI !== undefined) throw new Error(`CI needs Chromium: ${HOW_TO_GET_IT}`);
if (!hasChromium) process.stderr.write(`No Chromium, its tests are skipped: ${HOW_TO_GET_IT}\n`);

declare global {
  interface Window {
    /** The module of `svc-browser-sdk`, set by the page. */
    sdk: typeof Sdk;
    http: typeof Http;
    /** The worker of a test. */
    svc: Sdk.SvcWorker;
  }
}

export function launchChromium(): Promise<Browser> {
  if (PLACE === undefined) throw new Error('There is no Chromium');
  return chromium.launch({
    executablePath: PLACE,
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
}

export interface PageOptions {
  /** Its clock advances only when the test says so. */
  readonly holdsTime?: boolean;
}

/** A page of that address with the SDK in it. An error in it that is not awaited fails the test at its end. */
export async function openPage(browser: Browser, url: string, options: PageOptions = {}): Promise<OpenPage> {
  return await openScriptedPage(browser, url, 'sdk', options);
}

/** A page whose script puts a value of that name into its window. */
export async function openScriptedPage(
  browser: Browser,
  url: string,
  name: 'sdk' | 'app',
  { holdsTime = false }: PageOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  if (holdsTime) await page.clock.install();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  // React warns in the console, where the browser also reports networks that tests cut.
  page.on('console', (line) => {
    const isReact = name === 'app' && line.type() === 'error' && !NETWORK_TROUBLE.test(line.text());
    if (isReact) problems.push(line.text());
  });
  await page.goto(url);
  await page.waitForFunction((given) => given in window, name);
  return {
    page,
    problems,
    [Symbol.asyncDispose]: () => context.close(),
  };
}

const NETWORK_TROUBLE = /^(WebSocket connection|Failed to load resource)/;

export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** Uncaught errors, including rejections. */
  readonly problems: readonly string[];
}
