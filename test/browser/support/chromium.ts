// The real browser of the tests: Debian's Chromium, driven through playwright-core.

import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import type * as Http from '../../../src/browser-sdk/http.ts';
import type * as Sdk from '../../../src/browser-sdk/index.ts';

const PLACES = [process.env.CHROMIUM ?? '', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const PLACE = PLACES.find((place) => place !== '' && existsSync(place));

/** Undefined where there is no browser: tests are skipped there, and this says how to have them run. */
export const hasChromium = PLACE !== undefined;
if (!hasChromium) process.stderr.write('No Chromium: apt-get install chromium, or name one in CHROMIUM; skipped.\n');

declare global {
  interface Window {
    /** The module of `svc-browser-sdk`, put there by the page. */
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

/** A page of that address with the SDK in it; what fails in it without being awaited fails the test at its end. */
export async function openPage(browser: Browser, url: string): Promise<OpenPage> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(url);
  await page.waitForFunction(() => window.sdk !== undefined);
  return {
    page,
    problems,
    [Symbol.asyncDispose]: () => context.close(),
  };
}

export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** Errors that nobody caught, rejections among them. */
  readonly problems: readonly string[];
}
