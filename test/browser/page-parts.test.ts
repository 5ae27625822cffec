// The parts that svc-browser-sdk loads when they are first used, and the SDK in a web worker.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSvcError } from '../../src/sdk/index.ts';
import { CutProxy } from '../support/load/cut-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { hasChromium, launchChromium, openPage } from './support/chromium.ts';
import { startGuardedEngine, TOKEN } from './support/guarded-engine.ts';
import { type PageServer, startPageServer } from './support/page-server.ts';

describe.skipIf(!hasChromium)('a page with svc-browser-sdk', () => {
  let browser: Browser;
  let pages: PageServer;
  beforeAll(async () => {
    [browser, pages] = await Promise.all([launchChromium(), startPageServer()]);
  });
  afterAll(async () => {
    await browser?.close();
    await pages?.[Symbol.asyncDispose]();
  });
  const open = () => openPage(browser, `http://127.0.0.1:${pages.port}/`);

  test('[SDK-13] loads only what it uses: a page that only calls loads one file', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open();
    const before = pages.asked.length;
    await opened.page.evaluate(
      async ({ url, token }) => {
        window.svc = window.sdk.registerWorker(url, { auth: () => token });
        await window.svc.trigger({ function_id: 'api::echo', payload: 1 });
      },
      { url: site.url, token: TOKEN },
    );
    expect(pages.asked.slice(before).filter((path) => path.startsWith('/svc/'))).toEqual([]);
  });

  test('[SDK-2] [SDK-13] checks payloads against the schema of its function', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open();
    await opened.page.evaluate(
      async ({ url, token }) => {
        window.svc = window.sdk.registerWorker(url, { auth: () => token });
        const definition = { id: 'ui::double', input: { type: 'number' } };
        await window.svc.registerFunction(definition, (n: number) => 2 * n).ready();
      },
      { url: site.url, token: TOKEN },
    );
    expect(await site.backend.trigger({ function_id: 'ui::double', payload: 4 })).toBe(8);
    const refused = site.backend.trigger({ function_id: 'ui::double', payload: 'four' });
    await expect(refused).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-12] [SDK-13] repeats a call that is marked as repeatable, and uses the state that it may use', async () => {
    await using site = await startGuardedEngine({ exposes: '*' });
    await using opened = await open();
    const found = await opened.page.evaluate(
      async ({ url, token }) => {
        const { registerWorker, ops } = window.sdk;
        window.svc = registerWorker(url, { auth: () => token });
        const { state } = window.svc;
        await state.set('page', 'a', { n: 1 });
        await state.update('page', 'a', ops.increment('n', 4));
        const keys: string[] = [];
        for await (const { key } of state.list('page')) keys.push(key);
        const retry = { attempts: 100, backoff_ms: 5 };
        Object.assign(window, { late: window.svc.trigger({ function_id: 'api::late', payload: 1, retry }) });
        const once = window.svc.trigger({ function_id: 'api::late', payload: 1 }).catch(({ code }) => code);
        return { value: await state.get('page', 'a'), keys, once: await once };
      },
      { url: site.url, token: TOKEN },
    );
    expect(found).toEqual({ value: { n: 5 }, keys: ['a'], once: 'function_not_found' });
    site.backend.registerFunction('api::late', () => 'late');
    expect(await opened.page.evaluate(() => Reflect.get(window, 'late'))).toBe('late');
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-13] streams the answer to an HTTP request, where it may bind one', async () => {
    await using site = await startGuardedEngine({ triggerTypes: ['http'] });
    await using opened = await open();
    await opened.page.evaluate(
      async ({ url, token }) => {
        const { http, streamed } = window.http;
        window.svc = window.sdk.registerWorker(url, { auth: () => token });
        const answer = window.svc.registerFunction(
          'ui::answer',
          streamed(async (_request, reply) => {
            for (const word of ['from ', 'a ', 'page']) await reply.write(word);
          }),
        );
        await window.svc.registerTrigger({ ...http('GET', '/page'), function_id: answer }).ready();
      },
      { url: site.url, token: TOKEN },
    );
    expect(await (await fetch(`${site.httpUrl}/page`)).text()).toBe('from a page');
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-13] reports a part that cannot be loaded, and continues without it', async () => {
    await using site = await startGuardedEngine({ exposes: '*' });
    await using opened = await open();
    await opened.page.route(/\/(channels|streams|incoming-calls)\.js$/, (route) => route.abort());
    const result = await opened.page.evaluate(
      async ({ url, token }) => {
        const lines: string[] = [];
        const log = (_level: string, line: string): void => void lines.push(line);
        window.svc = window.sdk.registerWorker(url, { auth: () => token, log });
        window.svc.registerFunction('ui::f', () => 1);
        const codeOf = (outcome: Promise<unknown>) => outcome.then(String, ({ code }) => code);
        return {
          channel: await codeOf(window.svc.createChannel()),
          groups: await codeOf(window.svc.stream('chat').groups()),
          watch: await codeOf(window.svc.stream('chat').group('a').subscribe().ready()),
          call: await window.svc.trigger({ function_id: 'api::echo', payload: 5 }),
          lines,
        };
      },
      { url: site.url, token: TOKEN },
    );
    expect(result).toMatchObject({ channel: 'UNREACHABLE', groups: 'UNREACHABLE', watch: 'UNREACHABLE', call: 5 });
    expect(result.lines.join('\n')).toContain('cannot run functions of this page');
    const call = site.backend.trigger({ function_id: 'ui::f', payload: 1 });
    await expect(call).rejects.toMatchObject({ code: 'invocation_failed' });
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-13] does not dial while the browser is offline, and dials at once when it is online again', async () => {
    await using site = await startGuardedEngine();
    await using proxy = await CutProxy.start(Number(new URL(site.url).port));
    await using opened = await open();
    const { page } = opened;
    await page.clock.install();
    await page.evaluate(
      async ({ url, token }) => {
        const dials: number[] = [];
        Object.assign(window, { dials });
        const auth = () => {
          dials.push(Date.now());
          return token;
        };
        window.svc = window.sdk.registerWorker(url, { auth, log: () => {} });
        await window.svc.ready();
      },
      { url: proxy.url, token: TOKEN },
    );
    await page.context().setOffline(true);
    proxy.cut();
    await page.waitForFunction(() => window.svc.state_of_connection !== 'connected');
    // Every pause between two dials is shorter.
    await page.clock.fastForward(300_000);
    expect(await page.evaluate(() => Reflect.get(window, 'dials').length)).toBe(1);
    await page.context().setOffline(false);
    await page.evaluate(() => window.svc.ready());
    expect(await page.evaluate(() => Reflect.get(window, 'dials').length)).toBe(2);
  });

  test('[SDK-13] runs in a web worker', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open();
    const said = await opened.page.evaluate(
      ({ url, token }) =>
        new Promise((resolve) => {
          const worker = new Worker('/worker.js', { type: 'module' });
          worker.onmessage = ({ data }) => resolve(data);
          worker.postMessage({ url, token });
        }),
      { url: site.url, token: TOKEN },
    );
    expect(said).toBe('from a web worker');
    expect(await site.backend.trigger({ function_id: 'ui::add', payload: { a: 2, b: 3 } })).toBe(5);
    await opened.page.close();
    await waitFor('what the page offered is gone with it', async () => {
      const call = site.backend.trigger({ function_id: 'ui::add', payload: { a: 2, b: 3 } });
      return call.then(
        () => false,
        (error) => isSvcError(error, 'function_not_found'),
      );
    });
  });

  test('[SDK-13] refuses functions that a page cannot offer, by name', async () => {
    await using opened = await open();
    const refusals = await opened.page.evaluate(() =>
      [{ headers: {} }, { token: 'x' }, { wire: 'binary' }].map((options: object) => {
        try {
          return String(window.sdk.registerWorker('ws://127.0.0.1:1', options));
        } catch (error) {
          return String(error);
        }
      }),
    );
    for (const [index, name] of ['headers', 'token', 'wire'].entries()) {
      expect(refusals[index]).toContain(`${name}: a page cannot choose it`);
    }
  });
});
