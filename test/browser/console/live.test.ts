// How live views behave (console 3.2), over recorded answers: what arrives, when, and what is read again.

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SeededRandom } from '../../support/random/seeded-random.ts';
import { type ConsoleFixture, startConsoleFixture, traceRow } from '../../support/telemetry/console-fixture.ts';
import { demoLogs, orderTrace } from '../../support/telemetry/demo-telemetry.ts';
import { waitFor } from '../../support/wait-for.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { openConsole } from '../support/console-page.ts';

const random = new SeededRandom(11);
const TRACES = 200;
const HIDDEN_MS = 31_000;

describe.skipIf(!hasChromium)('Live views', () => {
  let fixture: ConsoleFixture;
  let browser: Browser;

  beforeAll(async () => {
    const startMs = Date.now() - 3_600_000;
    const traces = Array.from({ length: TRACES }, (_none, at) => orderTrace(random, startMs + at * 1_000, 'ok'));
    const spans = traces.flat();
    const logs = demoLogs(random, startMs, 20, traces[0] ?? []);
    [fixture, browser] = await Promise.all([startConsoleFixture({ spans, logs }), launchChromium()]);
  });

  afterAll(async () => {
    await browser?.close();
    await fixture?.[Symbol.asyncDispose]();
  });

  const open = (path: string, context?: BrowserContextOptions) =>
    openConsole(browser, `${fixture.url}${path}`, context === undefined ? {} : { context });
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
  const rowNamed = (name: string) => {
    const made = traceRow(orderTrace(random, Date.now(), 'ok'));
    if (made === undefined) throw new Error('A trace has no row');
    return { ...made, name };
  };
  const push = (...names: readonly string[]): void => fixture.push('traces', names.map(rowNamed));

  test('[LIV-2] A burst of frames is drawn once a frame at most', async () => {
    await using opened = await open('/traces');
    const { page } = opened;
    await row(page, 'POST /orders').first().waitFor();
    await fixture.subscribed('traces');
    push('GET /warm');
    await row(page, 'GET /warm').waitFor();
    const drawn = await page.evaluateHandle(() => {
      const seen = { frame: 0, inFrame: 0, most: 0 };
      const next = (): void => {
        seen.frame += 1;
        seen.inFrame = 0;
        requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
      // The number in the title of the page changes with every render that has new rows.
      const title = document.querySelector('h1')?.parentElement;
      if (title === null || title === undefined) throw new Error('The page has no title');
      new MutationObserver(() => {
        seen.inFrame += 1;
        seen.most = Math.max(seen.most, seen.inFrame);
      }).observe(title, { subtree: true, childList: true, characterData: true });
      return seen;
    });
    for (let frame = 0; frame < 300; frame++) push(`GET /burst-${frame}`);
    await row(page, 'GET /burst-299').waitFor();
    expect(await drawn.evaluate(({ most }) => most)).toBe(1);
  });

  test('[LIV-3] While scrolled away, nothing moves and new rows are counted; a jump follows again', async () => {
    await using opened = await open('/traces');
    const { page } = opened;
    const grid = page.getByRole('grid', { name: 'Traces' });
    await grid.getByRole('row').nth(5).waitFor();
    await grid.hover();
    await page.mouse.wheel(0, 2_000);
    await waitFor('it is scrolled', async () => (await grid.evaluate(({ scrollTop }) => scrollTop)) > 1_000);
    const seen = await grid.getByRole('row').nth(10).innerText();
    await fixture.subscribed('traces');
    push('GET /while-away-1', 'GET /while-away-2');
    await page.getByRole('button', { name: 'Jump to newest (+2)' }).waitFor();
    expect(await grid.getByRole('row').nth(10).innerText()).toBe(seen);
    await page.getByRole('button', { name: 'Jump to newest (+2)' }).click();
    await row(page, 'GET /while-away-2').waitFor();
    expect(await grid.evaluate(({ scrollTop }) => scrollTop)).toBe(0);
    push('GET /followed');
    await row(page, 'GET /followed').waitFor();
  });

  test('[LIV-4] Paused by p the view does not change, and resuming loses nothing', async () => {
    await using opened = await open('/traces');
    const { page } = opened;
    await row(page, 'POST /orders').first().waitFor();
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const names = Array.from({ length: 30 }, (_none, at) => `GET /held-${at}`);
    await fixture.subscribed('traces');
    for (const name of names) push(name);
    await page.getByRole('button', { name: 'Jump to newest (+30)' }).waitFor();
    expect(await row(page, 'GET /held-').count()).toBe(0);
    await page.keyboard.press('p');
    await row(page, 'GET /held-29').waitFor();
    await row(page, 'GET /held-10').waitFor();
  });

  test('[LIV-5] Items that the server left out are a row in their place', async () => {
    await using opened = await open('/logs');
    const { page } = opened;
    await page.getByRole('grid', { name: 'Log records' }).getByRole('row').first().waitFor();
    await fixture.subscribed('logs');
    fixture.gap('logs', 412);
    await row(page, '412').waitFor();
  });

  test('[LIV-6] A hidden tab unsubscribes after 30 s, and reads once when it returns', async () => {
    await using opened = await open('/traces', {});
    const { page } = opened;
    // The requests that follow come from the next document, not from a late socket of this one.
    await waitFor('this document has its socket', () => opened.sockets() === 1);
    await page.clock.install();
    const sent: { op: string; id: number; topic?: string }[] = [];
    page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(JSON.parse(String(payload)))));
    await page.reload();
    await row(page, 'POST /orders').first().waitFor();
    const subscribed = await waitFor('the topic is subscribed', () => sent.find(({ topic }) => topic === 'traces'));
    await page.clock.runFor(5_000);
    await setHidden(page, true);
    await page.clock.runFor(HIDDEN_MS);
    await waitFor('it is let go', () => sent.some(({ op, id }) => op === 'unsub' && id === subscribed.id));
    const kept = sent.filter(({ topic }) => topic === 'counters');
    expect(sent.some(({ op, id }) => op === 'unsub' && kept.some((one) => one.id === id))).toBe(false);
    const asked = fixture.calls('POST /traces/search').length;
    await setHidden(page, false);
    await waitFor('it is subscribed again', () => sent.filter(({ topic }) => topic === 'traces').length === 2);
    await waitFor('the list is read once', () => fixture.calls('POST /traces/search').length === asked + 1);
    push('GET /back-again');
    await page.clock.runFor(1_000);
    await row(page, 'GET /back-again').waitFor();
    expect(fixture.calls('POST /traces/search').length).toBe(asked + 1);
  });
});

/** As if another tab had been selected. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}
