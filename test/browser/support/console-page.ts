// A page of the console under watch: an error in it that no test expects fails the test at its end.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page, WebSocket } from 'playwright-core';
import { expect } from 'vitest';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  /** Page errors, console errors, policy violations, requests to other origins. */
  readonly problems: string[];
  /** How many live sockets the page has open. */
  readonly sockets: () => number;
}

export interface ConsolePageOptions {
  readonly context?: BrowserContextOptions;
  /** Console errors that this test causes itself: a network that fails on purpose. */
  readonly expected?: RegExp;
}

/** Events of a page go to the test that uses it at the moment. */
interface WatchedPage {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The sockets of this document. Those of an earlier document end with it, without an event. */
  readonly open: Set<WebSocket>;
  origin: string;
  note: (text: string) => void;
}

/**
 * Pages of the browser that no test uses at the moment. The next test gets such a page emptied, because a new one would
 * cost more than most tests do.
 */
const idlePages = new WeakMap<Browser, WatchedPage[]>();

/** Opens that address. `await using` checks at the end that no error occurred. */
export async function openConsole(
  browser: Browser,
  url: string,
  { context: given, expected }: ConsolePageOptions = {},
): Promise<ConsolePage> {
  const idle = given === undefined ? idlePages.get(browser)?.pop() : undefined;
  const watched = idle ?? (await newPage(browser, given));
  const { context, page, open } = watched;
  const problems: string[] = [];
  const { origin } = new URL(url);
  // The document of another console, perhaps of one that has ended, is not part of this test.
  if (idle !== undefined && idle.origin !== origin) await page.goto('about:blank');
  watched.origin = origin;
  // Events until then belong to the document of the previous test.
  page.once('framenavigated', () => {
    watched.note = (text) => {
      if (expected?.test(text) !== true) problems.push(text);
    };
  });
  await page.goto(url);
  return {
    page,
    problems,
    sockets: () => open.size,
    async [Symbol.asyncDispose]() {
      const { size } = open;
      if (given === undefined && problems.length === 0) await putAside(browser, watched);
      else await context.close();
      expect(size).toBeLessThanOrEqual(1);
      expect(problems).toEqual([]);
    },
  };
}

async function newPage(browser: Browser, given: BrowserContextOptions | undefined): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...given });
  const page = await context.newPage();
  const watched: WatchedPage = { context, page, open: new Set(), origin: '', note: () => {} };
  const note = (text: string): void => watched.note(text);
  page.on('pageerror', (error) => note(`page error: ${error.stack ?? error.message}`));
  page.on('console', (line) => line.type() === 'error' && note(`console error: ${line.text()} ${line.location().url}`));
  // Until the next document is loaded, the previous one may still open sockets.
  let isLeaving = false;
  page.on('framenavigated', () => {
    if (isLeaving) watched.open.clear();
    isLeaving = false;
  });
  page.on('request', (request) => {
    const address = request.url();
    if (request.isNavigationRequest()) isLeaving = true;
    if (!address.startsWith(watched.origin) && !/^(?:data|blob|about):/.test(address)) {
      note(`foreign request: ${address}`);
    }
  });
  page.on('websocket', (socket) => {
    watched.open.add(socket);
    socket.on('close', () => watched.open.delete(socket));
    if (new URL(socket.url()).host !== new URL(watched.origin).host) note(`foreign socket: ${socket.url()}`);
  });
  await page.addInitScript(() => {
    // The first document of a test finds nothing that an earlier test stored in this browser.
    if (location.protocol === 'http:' && window.name === '') {
      localStorage.clear();
      sessionStorage.clear();
      window.name = 'used';
    }
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile }) => {
      // biome-ignore lint/suspicious/noConsole: this runs in the page, where the console is what is watched
      console.error(`policy violation: ${violatedDirective} ${blockedURI} ${sourceFile}`);
    });
  });
  return watched;
}

/**
 * Routes and preferences of the test are removed. Its document stays until the next one, because leaving it would cost
 * a process.
 */
async function putAside(browser: Browser, watched: WatchedPage): Promise<void> {
  const { page } = watched;
  watched.note = () => {};
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  await page.evaluate(() => {
    window.name = '';
  });
  idlePages.set(browser, [...(idlePages.get(browser) ?? []), watched]);
}

interface AxeFinding {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The serious and critical findings of axe on the current page, in both themes (ACC-1). */
export async function axeFindings(page: Page): Promise<string[]> {
  const found: string[] = [];
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  // The document is the same in both themes: in the second only rules about colour can differ.
  for (const [theme, rules] of [
    ['dark', undefined],
    ['light', COLOUR_RULES],
  ] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await page.waitForFunction((name) => document.documentElement.dataset.theme === name, theme);
    const violations: readonly AxeFinding[] = await page.evaluate(async (runOnly) => {
      const { axe } = globalThis as unknown as { axe: Axe };
      const which = runOnly === undefined ? {} : { runOnly: { type: 'rule', values: runOnly } };
      return (await axe.run({ resultTypes: ['violations'], ...which })).violations;
    }, rules);
    for (const { id, impact, nodes } of violations) {
      if (impact !== 'serious' && impact !== 'critical') continue;
      for (const { html, failureSummary } of nodes.slice(0, 5)) {
        found.push(`${theme} ${id}: ${html.slice(0, 200)} ${failureSummary?.split('\n')[1] ?? ''}`);
      }
    }
  }
  return found;
}

const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

interface Axe {
  run(options: object): Promise<{ violations: AxeFinding[] }>;
}

/** Replaces the text of the editor of the page. */
export async function fillEditor(page: Page, text: string): Promise<void> {
  const editor = page.locator('.cm-content');
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}
