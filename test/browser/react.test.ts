// svc-browser-sdk/react with React itself, in a real browser, against the real engine.

import type { Browser, Page as BrowserPage } from 'playwright-core';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CutProxy } from '../support/load/cut-proxy.ts';
import { hasChromium, launchChromium, openScriptedPage } from './support/chromium.ts';
import { type GuardedEngine, startGuardedEngine, TOKEN } from './support/guarded-engine.ts';
import { type PageServer, startPageServer } from './support/page-server.ts';
import { reactFiles } from './support/react-page.ts';
import { Page, type PartName } from './support/react-parts.ts';

const EVERY_PART: readonly PartName[] = ['connection', 'echo', 'room', 'entry', 'notice'];
const NO_EVENTS = { received: [], status: 'live', recovered: true };

describe.skipIf(!hasChromium)('a page with svc-browser-sdk/react', () => {
  let browser: Browser;
  let pages: PageServer;
  let rendered: string;
  beforeAll(async () => {
    rendered = renderToString(createElement(Page, { svc: undefined, names: EVERY_PART }));
    [browser, pages] = await Promise.all([launchChromium(), startPageServer(await reactFiles(rendered))]);
  });
  afterAll(async () => {
    await browser?.close();
    await pages?.[Symbol.asyncDispose]();
  });
  const open = (path = '/react') => openScriptedPage(browser, `http://127.0.0.1:${pages.port}${path}`, 'app');
  const start = (page: BrowserPage, site: GuardedEngine, names: readonly PartName[], how = {}) =>
    page.evaluate(([parts, options]) => window.app.start(parts, options), [
      names,
      { url: site.url, token: TOKEN, options: { stream_url: site.streamUrl.replace('0.0.0.0', '127.0.0.1') }, ...how },
    ] as const);

  test('[SDK-14] useConnection shows the connection open, lost and open again', async () => {
    await using site = await startGuardedEngine();
    await using proxy = await CutProxy.start(Number(new URL(site.url).port));
    await using opened = await open();
    const { page } = opened;
    proxy.close();
    await start(page, site, ['connection'], { url: proxy.url });
    await shows(page, 'connection', 'connecting');
    proxy.reopen();
    await shows(page, 'connection', 'connected');
    proxy.close();
    await shows(page, 'connection', 'disconnected');
    proxy.reopen();
    await shows(page, 'connection', 'connected');
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-14] useFunction shows the state of the last call, and a failure that is not caught', async () => {
    await using site = await startGuardedEngine();
    let answerFirst = (_answer: string): void => {};
    site.backend.registerFunction('api::answer', (payload: unknown) => {
      if (payload === 'bad') throw new Error('the shelf is empty');
      if (payload !== 'first') return payload;
      return new Promise((resolve) => {
        answerFirst = resolve;
      });
    });
    await using opened = await open();
    const { page } = opened;
    const call = (payload: unknown) => page.evaluate((given) => void window.app.handles.echo?.call(given), payload);
    await start(page, site, ['echo']);
    await shows(page, 'echo', { status: 'idle' });
    await call('first');
    await shows(page, 'echo', { status: 'pending' });
    await call('second');
    await shows(page, 'echo', { status: 'done', data: 'second' });
    answerFirst('late');
    expect(await page.evaluate(() => window.app.handles.echo?.call({ n: 3 }))).toEqual({ n: 3 });
    await shows(page, 'echo', { status: 'done', data: { n: 3 } });
    await call('bad');
    await shows(page, 'echo', { status: 'failed', data: { n: 3 }, error: 'the shelf is empty' });
    await page.evaluate(() => window.app.handles.echo?.reset());
    await shows(page, 'echo', { status: 'idle' });
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-14] useStream shows items, events and losses, and reports missed events', async () => {
    await using site = await startGuardedEngine({ exposes: 'stream::*' });
    await using proxy = await CutProxy.start(Number(new URL(site.streamUrl).port));
    const room = site.backend.stream('chat').group<{ n: number }>('room1');
    await room.set('a', { n: 1 });
    await using opened = await open();
    const { page } = opened;
    await start(page, site, ['room'], { options: { stream_url: proxy.url } });
    await shows(page, 'room', { items: [['a', { n: 1 }]], ...NO_EVENTS });
    await room.set('b', { n: 2 });
    for (const n of [1, 2, 3, 4]) await room.send('typing', n);
    const items = [
      ['a', { n: 1 }],
      ['b', { n: 2 }],
    ];
    await shows(page, 'room', { items, received: [2, 3, 4], status: 'live', recovered: true });
    proxy.close();
    await shows(page, 'room', { items, received: [2, 3, 4], status: 'reconnecting', recovered: true });
    await room.delete('a');
    await room.send('typing', 5);
    proxy.reopen();
    await shows(page, 'room', { items: [['b', { n: 2 }]], received: [3, 4, 5], status: 'live', recovered: true });
    proxy.close();
    await shows(page, 'room', {
      items: [['b', { n: 2 }]],
      received: [3, 4, 5],
      status: 'reconnecting',
      recovered: true,
    });
    // More than the engine keeps for clients that reconnect.
    await Promise.all(Array.from({ length: 1_100 }, () => room.send('typing', 6)));
    await room.set('b', { n: 3 });
    proxy.reopen();
    await shows(page, 'room', { items: [['b', { n: 3 }]], received: [3, 4, 5], status: 'live', recovered: false });
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-14] useStream reports why it was refused', async () => {
    await using site = await startGuardedEngine({ exposes: 'stream::*' });
    await site.backend
      .registerTrigger({
        type: 'stream:join',
        function_id: site.backend.registerFunction('auth::join', () => ({ unauthorized: true })),
        config: {},
      })
      .ready();
    await using opened = await open();
    await start(opened.page, site, ['room']);
    await shows(opened.page, 'room', {
      items: [],
      received: [],
      status: 'ended',
      recovered: true,
      error: 'UNAUTHORIZED',
    });
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-14] useStateValue shows the entry, its changes, and those made while the page was disconnected', async () => {
    await using site = await startGuardedEngine({ exposes: 'state::*', triggerTypes: ['state'] });
    await using proxy = await CutProxy.start(Number(new URL(site.url).port));
    await using opened = await open();
    const { page } = opened;
    await start(page, site, ['connection', 'entry'], { url: proxy.url });
    await shows(page, 'entry', { value: null });
    await page.evaluate(() => window.app.handles.entry?.set({ n: 1 }));
    await shows(page, 'entry', { value: { n: 1 } });
    await site.backend.state.set('page', 'counter', { n: 2 });
    await shows(page, 'entry', { value: { n: 2 } });
    proxy.close();
    await shows(page, 'connection', 'disconnected');
    await site.backend.state.set('page', 'counter', { n: 3 });
    proxy.reopen();
    await shows(page, 'entry', { value: { n: 3 } });
    await site.backend.state.delete('page', 'counter');
    await shows(page, 'entry', { value: null });
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-14] useStateValue reports what the page may not do', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open();
    await start(opened.page, site, ['entry']);
    const text = await opened.page.waitForFunction(() => {
      const { error } = JSON.parse(document.getElementById('entry')?.textContent ?? '{}');
      return typeof error === 'string' && error;
    });
    expect(await text.jsonValue()).toContain('allow_trigger_types');
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-14] renders once a frame at most, however often values change', async () => {
    await using site = await startGuardedEngine({ exposes: '*', triggerTypes: ['state'] });
    site.backend.registerFunction('api::answer', (payload: unknown) => payload);
    const room = site.backend.stream('chat').group<{ n: number }>('room1');
    await using opened = await open();
    const { page } = opened;
    await start(page, site, ['room', 'echo']);
    await shows(page, 'room', { items: [], ...NO_EVENTS });
    await page.evaluate(() => {
      const frames = { count: 0 };
      const count = (): void => {
        frames.count += 1;
        requestAnimationFrame(count);
      };
      requestAnimationFrame(count);
      Object.assign(window, { framesShown: frames });
      for (const name of Object.keys(window.app.commits)) window.app.commits[name] = 0;
    });
    const writes = Promise.all(Array.from({ length: 900 }, (_, n) => room.set('a', { n })));
    await page.evaluate(async () => {
      for (let n = 0; n < 200; n++) await window.app.handles.echo?.call(n);
    });
    await writes;
    await shows(page, 'room', { items: [['a', { n: 899 }]], ...NO_EVENTS });
    const { commits, frames } = await page.evaluate(() => ({
      commits: { ...window.app.commits },
      frames: Reflect.get(window, 'framesShown').count,
    }));
    // A render that was due when counting began belongs to the frame before.
    expect(commits.room).toBeLessThanOrEqual(frames + 1);
    expect(commits.echo).toBeLessThanOrEqual(frames + 1);
    expect(commits.room).toBeLessThan(900);
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-14] In strict mode each subscription exists once, and none is left open', async () => {
    await using site = await startGuardedEngine({ exposes: '*', triggerTypes: ['state'] });
    await using opened = await open();
    const { page } = opened;
    const sockets = new Set<unknown>();
    page.on('websocket', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await start(page, site, EVERY_PART, { strict: true });
    await shows(page, 'room', { items: [], ...NO_EVENTS });
    await shows(page, 'entry', { value: null });
    await shows(page, 'connection', 'connected');
    await expect.poll(() => sockets.size).toBe(2);
    await site.backend.trigger({ function_id: 'ui::notify', payload: { text: 'hello' }, retry: PATIENT });
    await shows(page, 'notice', 'hello');
    await page.evaluate(() => window.app.show(['connection']));
    await expect.poll(() => sockets.size).toBe(1);
    const { functions } = await site.backend.trigger({
      function_id: 'engine::functions::list',
      payload: { include_internal: true },
    });
    expect(functions.map(({ function_id }: { function_id: string }) => function_id)).not.toContain('ui::notify');
    expect(JSON.stringify(functions)).not.toContain('state.watch::');
    await page.evaluate(() => window.app.stop());
    expect(await page.evaluate(() => window.svc.state_of_connection)).toBe('connected');
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-14] continues from the HTML that a server rendered', async () => {
    expect(rendered).toContain('<pre id="connection">&quot;connecting&quot;</pre>');
    await using site = await startGuardedEngine({ exposes: '*', triggerTypes: ['state'] });
    await using opened = await open('/rendered');
    const { page } = opened;
    await start(page, site, EVERY_PART, { hydrates: true });
    await shows(page, 'connection', 'connected');
    await shows(page, 'room', { items: [], ...NO_EVENTS });
    await shows(page, 'entry', { value: null });
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-14] Without a worker a call fails, and without a provider the hook names what is missing', async () => {
    await using opened = await open();
    const { page } = opened;
    await page.evaluate(() => window.app.start(['connection', 'echo'], {}));
    await shows(page, 'connection', 'connecting');
    await page.evaluate(() => void window.app.handles.echo?.call(1));
    const error = 'api::answer: the <SvcProvider> around this component was given no worker';
    await shows(page, 'echo', { status: 'failed', error });
    await page.evaluate(() => window.app.stop());
    expect(opened.problems).toEqual([]);
    expect(await page.evaluate(() => window.app.withoutProvider())).toContain('There is no <SvcProvider> around');
  });
});

const PATIENT = { attempts: 100, backoff_ms: 20 };

/** Waits until the component shows exactly that. */
async function shows(page: BrowserPage, name: PartName, value: unknown): Promise<void> {
  const text = () => page.locator(`#${name}`).textContent();
  await expect.poll(async () => JSON.parse((await text()) ?? 'null'), { timeout: 15_000 }).toEqual(value);
}
