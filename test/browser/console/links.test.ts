// Every link on every page of the console leads to something that exists, with the demo running (APP-17).
//
// Kinds of pages in turn, so that all of them are seen. In CI the crawl ends after so many pages;
// `SVC_CRAWL_MINUTES=10` crawls for that long instead.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { openConsole } from '../support/console-page.ts';
import { DemoProject } from '../support/demo-project.ts';

const MINUTES = Number(process.env.SVC_CRAWL_MINUTES ?? '0');
const PAGES_MIN = 40;
const KINDS_MIN = 20;
/** A tab that loads some 750 pages while it is observed comes to its end. */
const PAGES_PER_TAB = 200;
const START_MS_MAX = 120_000;
const CRAWL_MS_MAX = 240_000;
const PAGE = { timeout: 15_000 };

/** Of a thing that exists: it has none of these at the moment. */
const NONE_NOW = /^No (?:jobs|dead letters|failed runs|trigger calls this function|schema is registered)\b/;
/** Lists without a filter: the demo has no such things, or nothing of the kind has happened yet. */
const MAY_BE_EMPTY = /^\/(?:streams|states|logs|traces|config)(?:$|\?(?!.*(?:id|stream|scope|q|f|trace)=))/;

describe.skipIf(!hasChromium)('Links', () => {
  let demo: DemoProject;
  let browser: Browser;

  beforeAll(async () => {
    [demo, browser] = await Promise.all([DemoProject.start(), launchChromium()]);
  }, START_MS_MAX);
  afterAll(async () => {
    await browser?.close();
    await demo?.[Symbol.asyncDispose]();
  });

  test('[APP-17] every link leads to something that exists', { timeout: MINUTES * 60_000 + CRAWL_MS_MAX }, async () => {
    const crawl = new Crawl(demo.url);
    const endMs = performance.now() + MINUTES * 60_000;
    const isOver = (): boolean => performance.now() >= endMs && crawl.visited >= PAGES_MIN;
    while (!isOver()) {
      // Its own context: other tests hand their tabs on.
      await using opened = await openConsole(browser, demo.url, { context: {} });
      const until = crawl.visited + PAGES_PER_TAB;
      while (!isOver() && crawl.visited < until) await crawl.visitNext(opened.page);
    }
    process.stdout.write(`${crawl.visited} pages of ${crawl.kinds.length} kinds: ${crawl.kinds.join(', ')}\n`);
    expect(crawl.deadEnds).toEqual([]);
    expect(crawl.kinds.length).toBeGreaterThan(KINDS_MIN);
  });
});

const MENU = ['/', '/functions', '/triggers', '/queues', '/states', '/streams', '/traces', '/logs', '/workers'];

class Crawl {
  readonly deadEnds: string[] = [];
  readonly #origin: string;
  readonly #waiting = new Map<string, { address: string; from: string }[]>([
    ['/', [{ address: '/', from: 'the start' }]],
  ]);
  readonly #known = new Set(['/']);
  /** How many pages of each kind were visited. */
  readonly #visits = new Map<string, number>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  get kinds(): string[] {
    return [...this.#visits.keys()].sort();
  }

  get visited(): number {
    return [...this.#visits.values()].reduce((sum, count) => sum + count, 0);
  }

  /** A page of the kind that was visited least. */
  async visitNext(page: Page): Promise<void> {
    const [next] = [...this.#waiting].sort(([a], [b]) => (this.#visits.get(a) ?? 0) - (this.#visits.get(b) ?? 0));
    // All links were followed: what has happened since is on the pages of the menu.
    if (next === undefined) for (const address of MENU) this.#waiting.set(address, [{ address, from: 'the menu' }]);
    const [kind = '/', links = []] = next ?? [...this.#waiting][0] ?? [];
    // The newest: old ones may name what has left meanwhile.
    const link = links.pop() ?? { address: '/', from: 'the menu' };
    if (links.length === 0) this.#waiting.delete(kind);
    this.#visits.set(kind, (this.#visits.get(kind) ?? 0) + 1);
    await this.#visit(page, link.address, link.from, this.#visits.get(kind) === 1);
  }

  /** `withTabs`: also what the tabs of the page hold, which are no links. */
  async #visit(page: Page, address: string, from: string, withTabs: boolean): Promise<void> {
    await page.goto(this.#origin + address);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await this.#settle(page);
    const problem = await this.#deadEnd(page);
    if (problem !== undefined && !NONE_NOW.test(problem) && !MAY_BE_EMPTY.test(address)) {
      this.deadEnds.push(`${address} (from ${from}): ${problem}`);
    }
    await this.#noteLinks(page, address);
    if (!withTabs) return;
    const count = await page.getByRole('tab', { disabled: false }).count();
    for (let at = 0; at < count; at++) {
      const tab = page.getByRole('tab', { disabled: false }).nth(at);
      await tab.click();
      await this.#settle(page);
      await this.#noteLinks(page, address);
    }
  }

  async #settle(page: Page): Promise<void> {
    const loading = page.locator('main [role="status"][aria-label^="Loading"]');
    await expect.poll(() => loading.count(), PAGE).toBe(0);
  }

  async #noteLinks(page: Page, address: string): Promise<void> {
    const links = page.locator('a[href^="/"]');
    const hrefs = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href')));
    for (const href of hrefs) if (href !== null) this.#note(href, address);
  }

  async #deadEnd(page: Page): Promise<string | undefined> {
    // Read in one step: what is shown for a moment must not be waited for.
    const [text] = await page.locator('[data-state="empty"] h2, [role="alert"]').allInnerTexts();
    return text?.slice(0, 120);
  }

  #note(href: string, from: string): void {
    if (this.#known.has(href)) return;
    this.#known.add(href);
    const kind = kindOf(href);
    const links = this.#waiting.get(kind) ?? [];
    links.push({ address: href, from });
    this.#waiting.set(kind, links);
  }
}

/** Addresses that differ only in ids and values are one kind. */
function kindOf(href: string): string {
  const { pathname, searchParams } = new URL(href, 'http://x');
  const path = pathname.replace(/[0-9a-f]{32}/g, '*');
  const fixed = [...searchParams].map(([key, value]) => (key === 'tab' || key === 'view' ? `${key}=${value}` : key));
  return [path, ...fixed.sort()].join(' ');
}
