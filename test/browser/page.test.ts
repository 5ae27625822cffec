// svc-browser-sdk in a real browser, against the real engine.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChannelReader, isSvcError } from '../../src/sdk/index.ts';
import { freePort } from '../support/free-port.ts';
import { CutProxy } from '../support/load/cut-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { hasChromium, launchChromium, openPage, type PageOptions } from './support/chromium.ts';
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
  const open = (options: PageOptions = {}) => openPage(browser, `http://127.0.0.1:${pages.port}/`, options);

  test('[SDK-13] registers a function that the backend calls, and calls exposed functions', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open();
    const { page } = opened;
    const echoed = await page.evaluate(
      async ({ url, token }) => {
        window.svc = window.sdk.registerWorker(url, { worker_name: 'page', auth: async () => token });
        const shown = window.svc.registerFunction('ui::show', async ({ text }: { text: string }, context) => {
          document.title = text;
          return { shown: document.title, by: context.worker.name };
        });
        await shown.ready();
        return window.svc.trigger({ function_id: 'api::echo', payload: { n: 1, text: 'ä€😀' } });
      },
      { url: site.url, token: TOKEN },
    );
    expect(echoed).toEqual({ n: 1, text: 'ä€😀' });
    const shown = await site.backend.trigger({ function_id: 'ui::show', payload: { text: 'hello' } });
    expect(shown).toEqual({ shown: 'hello', by: 'page' });
    expect(await page.title()).toBe('hello');
    expect(site.tokens).toEqual([TOKEN]);
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-13] [X10] is refused hidden and unknown functions alike, and stays connected', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open();
    const refusals = await opened.page.evaluate(
      async ({ url, token }) => {
        window.svc = window.sdk.registerWorker(url, { auth: () => token });
        const refusalOf = async (id: string) => {
          try {
            return { answer: await window.svc.trigger({ function_id: id, payload: 1 }) };
          } catch (error) {
            if (!window.sdk.isSvcError(error)) throw error;
            return { code: error.code, text: error.message.replace(id, 'ID'), isRefused: window.sdk.isRefused(error) };
          }
        };
        const ids = ['secret::echo', 'secret::unknown', 'auth::page', 'engine::functions::list', 'state::set'];
        return { all: await Promise.all(ids.map(refusalOf)), open: await refusalOf('api::echo') };
      },
      { url: site.url, token: TOKEN },
    );
    const text = "function 'ID' not allowed (add to rbac.expose_functions)";
    expect(new Set(refusals.all.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ code: 'FORBIDDEN', text, isRefused: true })]),
    );
    expect(refusals.open).toEqual({ answer: 1 });
    expect(site.ran).toEqual(['api::echo']);
  });

  test('[SDK-13] asks for its token before each dial, and is admitted with the right one', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open();
    const asked = await opened.page.evaluate(
      async ({ url, token }) => {
        let times = 0;
        const auth = async () => {
          times++;
          if (times === 1) throw new Error('not logged in');
          return times === 2 ? 'with spaces' : times === 3 ? 'wrong' : token;
        };
        window.svc = window.sdk.registerWorker(url, { auth, log: () => {} });
        await window.svc.ready();
        return times;
      },
      { url: site.url, token: TOKEN },
    );
    expect(asked).toBe(4);
    expect(site.tokens).toEqual(['wrong', TOKEN]);
    expect(site.engine.log.join('\n')).not.toContain(TOKEN);
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-13] sends bytes and texts through channels in both directions', async () => {
    await using site = await startGuardedEngine();
    const { backend } = site;
    backend.registerFunction('api::size', async ({ from }: { from: ChannelReader }) => (await from.readAll()).length);
    backend.registerFunction('api::download', async () => {
      const { writer, readerRef } = await backend.createChannel();
      void writer.write(new Uint8Array(300_000).fill(7)).then(() => writer.close());
      return { file: readerRef };
    });
    await using opened = await open();
    const sizes = await opened.page.evaluate(
      async ({ url, token }) => {
        window.svc = window.sdk.registerWorker(url, { auth: () => token });
        window.svc.registerFunction('ui::lines', async ({ lines }) => {
          const heard: unknown[] = [];
          for await (const line of lines) heard.push(line);
          return heard;
        });
        const { writer, readerRef } = await window.svc.createChannel();
        const up = window.svc.trigger({ function_id: 'api::size', payload: { from: readerRef } });
        await writer.write(new Uint8Array(1_000_000));
        await writer.close();
        const { file } = await window.svc.trigger({ function_id: 'api::download' });
        const down: Uint8Array = await file.readAll();
        return { up: await up, down: down.length, isRight: down.every((byte) => byte === 7) };
      },
      { url: site.url, token: TOKEN },
    );
    expect(sizes).toEqual({ up: 1_000_000, down: 300_000, isRight: true });
    const { writer, readerRef } = await backend.createChannel();
    const lines = backend.trigger({ function_id: 'ui::lines', payload: { lines: readerRef } });
    for (const line of ['one', 'two']) await writer.write(line);
    await writer.close();
    expect(await lines).toEqual(['one', 'two']);
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-13] [T4] subscribes to a stream with a token, and misses nothing when the connection is cut', async () => {
    await using site = await startGuardedEngine({ exposes: 'stream::*' });
    await using proxy = await CutProxy.start(Number(new URL(site.streamUrl).port));
    await using opened = await open();
    const { page } = opened;
    const first = await page.evaluate(
      async ({ url, token, stream_url }) => {
        window.svc = window.sdk.registerWorker(url, { auth: () => token, stream_url });
        const room = window.svc.stream('chat').group<{ n: number }>('room1');
        await room.set('a', { n: 0 });
        const seen: { seqs: number[]; syncs: boolean[]; last: number } = { seqs: [], syncs: [], last: 0 };
        Object.assign(window, { seen });
        const watch = room.subscribe(
          {
            onSync: (_items, { recovered }) => seen.syncs.push(recovered),
            onChange({ seq, data }) {
              seen.seqs.push(seq);
              seen.last = data.n;
            },
          },
          { token: async () => token },
        );
        Object.assign(window, { watch });
        return [...(await watch.ready())];
      },
      { url: site.url, token: TOKEN, stream_url: proxy.url },
    );
    expect(first).toEqual([['a', { n: 0 }]]);
    const room = site.backend.stream('chat').group<{ n: number }>('room1');
    for (let n = 1; n <= 60; n++) {
      await room.set(`item${n % 7}`, { n });
      if (n % 20 === 0) proxy.cut();
    }
    await page.waitForFunction(() => Reflect.get(window, 'seen').last === 60);
    const seen = await page.evaluate(() => Reflect.get(window, 'seen'));
    expect(seen.seqs).toEqual(Array.from({ length: 60 }, (_, index) => index + 2));
    expect(seen.syncs.filter((recovered: boolean) => !recovered)).toHaveLength(1);
    const items = await page.evaluate(() => [...Reflect.get(window, 'watch').items]);
    expect(new Map(items)).toEqual(await room.list());
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-13] [W1] notices that a stream is silent, and dials again', async () => {
    await using site = await startGuardedEngine({ exposes: 'stream::*' });
    await using proxy = await CutProxy.start(Number(new URL(site.streamUrl).port));
    await using opened = await open({ holdsTime: true });
    const { page } = opened;
    await page.evaluate(
      async ({ url, token, stream_url }) => {
        window.svc = window.sdk.registerWorker(url, { auth: () => token, stream_url, log: () => {} });
        const syncs: boolean[] = [];
        Object.assign(window, { syncs });
        const handlers = { onSync: (_items: unknown, { recovered }: { recovered: boolean }) => syncs.push(recovered) };
        await window.svc
          .stream('chat')
          .group('room1')
          .subscribe(handlers, { token: async () => token })
          .ready();
      },
      { url: site.url, token: TOKEN, stream_url: proxy.url },
    );
    const syncs = () => page.evaluate(() => Reflect.get(window, 'syncs'));
    proxy.fallSilent();
    await waitFor('it has dialled again', async () => {
      await page.clock.runFor(5_000);
      return (await syncs()).length === 2;
    });
    expect(await syncs()).toEqual([false, true]);
    expect(opened.problems).toEqual([]);
  });

  test('[SDK-13] [W4] reconnects after a restart of the engine, with its functions', async () => {
    await using opened = await open();
    const port = await freePort();
    {
      await using site = await startGuardedEngine({ port });
      await opened.page.evaluate(
        async ({ url, token }) => {
          window.svc = window.sdk.registerWorker(url, { auth: () => token, log: () => {} });
          const events: string[] = [];
          Object.assign(window, { events });
          for (const name of ['connected', 'disconnected', 'reconnected', 'draining'] as const) {
            window.svc.on(name, () => events.push(name));
          }
          await window.svc.registerFunction('ui::twice', (n: number) => 2 * n).ready();
        },
        { url: site.url, token: TOKEN },
      );
      expect(await site.backend.trigger({ function_id: 'ui::twice', payload: 4 })).toBe(8);
    }
    await using site = await startGuardedEngine({ port });
    await opened.page.waitForFunction(() => Reflect.get(window, 'events').includes('reconnected'));
    expect(await site.backend.trigger({ function_id: 'ui::twice', payload: 5 })).toBe(10);
    expect(await opened.page.evaluate(() => Reflect.get(window, 'events'))).toEqual(
      expect.arrayContaining(['connected', 'draining', 'disconnected', 'reconnected']),
    );
    await opened.page.evaluate(() => window.svc.shutdown());
    await waitFor('the function is gone with its page', async () => {
      try {
        await site.backend.trigger({ function_id: 'ui::twice', payload: 5 });
        return false;
      } catch (error) {
        return isSvcError(error, 'function_not_found');
      }
    });
    expect(opened.problems).toEqual([]);
  });
});
