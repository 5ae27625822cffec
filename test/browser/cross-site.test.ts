// A page of another site cannot do anything to an engine on the same machine.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultLine } from '../support/load/fault-line.ts';
import { hasChromium, launchChromium, openPage } from './support/chromium.ts';
import { type GuardedEngine, startGuardedEngine, TOKEN } from './support/guarded-engine.ts';
import { type PageServer, startPageServer } from './support/page-server.ts';

/** What a page sends on a socket, and what it receives. */
interface Try {
  readonly url: string;
  readonly protocols?: readonly string[];
  /** Sent when the socket opens, if it does. */
  readonly frames: readonly object[];
}

const CALLS = ['api::echo', 'secret::echo', 'http::echo', 'auth::page'].flatMap((function_id) => [
  { type: 'invokefunction', function_id, invocation_id: function_id, data: 1 },
  { type: 'invokefunction', function_id, data: 1, action: { type: 'void' } },
]);
const SET = { type: 'invokefunction', function_id: 'stream::set', invocation_id: 's', data: {} };
const JOIN = { type: 'join', data: { subscriptionId: 's', streamName: 'chat', groupId: 'room1' } };

describe.skipIf(!hasChromium)('a page of another host', () => {
  let browser: Browser;
  let pages: PageServer;
  beforeAll(async () => {
    [browser, pages] = await Promise.all([launchChromium(), startPageServer()]);
  });
  afterAll(async () => {
    await browser?.close();
    await pages?.[Symbol.asyncDispose]();
  });
  const open = (host: string) => openPage(browser, `http://${host}:${pages.port}/`);

  test('[X3] [fault 39] cannot open a socket to bridge, port for pages, telemetry, channels or streams', async () => {
    const line = faultLine('39', 'cross-site', 'calls executed=0');
    await using site = await startGuardedEngine();
    await using opened = await open('localhost');
    const outcomes = await Promise.all(triesOf(site).map((one) => attempt(opened.page, one)));
    expect(new Set(outcomes)).toEqual(new Set(['refused']));
    await expectNothingRan(site);
    line.figure = `calls executed=${site.ran.length},tries=${outcomes.length}`;
  });

  test('[X3] [fault 39] is also refused when its host name resolves to this machine', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open('127.0.0.1');
    const rebound = triesOf(site).map((one) => ({ ...one, url: one.url.replace('127.0.0.1', 'rebound.localhost') }));
    const outcomes = await Promise.all(rebound.map((one) => attempt(opened.page, one)));
    expect(new Set(outcomes)).toEqual(new Set(['refused']));
    await expectNothingRan(site);
  });

  test('[X3] [fault 39] The same page of an allowed host is admitted: its origin is what is refused', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open('127.0.0.1');
    const [bridge, browserPort] = triesOf(site);
    if (bridge === undefined || browserPort === undefined) throw new Error('There is nothing to try');
    expect(await attempt(opened.page, browserPort)).toBe('opened');
    expect(site.ran).toEqual(expect.arrayContaining(['api::echo']));
    expect(site.ran).not.toContain('secret::echo');
    // The bridge admits no page.
    expect(await attempt(opened.page, bridge)).toBe('refused');
  });

  test('[X3] [X4] [X13] [fault 39] cannot read an answer of the HTTP port, and reaches no handler', async () => {
    await using site = await startGuardedEngine();
    await using opened = await open('localhost');
    const outcomes = await opened.page.evaluate(async (base) => {
      const json = { 'content-type': 'application/json' };
      const requests: [string, RequestInit][] = [
        ['/run', { method: 'POST', headers: json, body: '{}' }],
        ['/run', { method: 'POST', headers: { 'x-own': '1' }, body: '{}' }],
        ['/run', { method: 'PUT', body: '{}' }],
        // Requests that browsers send without a preflight.
        ['/run', { method: 'POST', mode: 'no-cors', body: 'x' }],
        ['/run', { mode: 'no-cors' }],
        ['/_console/v1/openapi.json', {}],
        ['/_console/v1/openapi.json', { method: 'POST', headers: json, body: '{}' }],
        ['/_console/v1/invoke', { method: 'POST', headers: json, body: '{"function_id":"secret::echo"}' }],
        ['/healthz', {}],
      ];
      return Promise.all(
        requests.map(([path, init]) =>
          fetch(base + path, init).then(
            // A page cannot read an opaque answer.
            ({ status, type }) => (type === 'opaque' ? 'refused' : `read ${status}`),
            () => 'refused',
          ),
        ),
      );
    }, site.httpUrl);
    expect(new Set(outcomes)).toEqual(new Set(['refused']));
    await expectNothingRan(site);
  });
});

function triesOf({ engine, url, streamUrl }: GuardedEngine): readonly Try[] {
  const proof = ['svc.json.v1', 'Authorization', TOKEN];
  return [
    { url: engine.url, frames: CALLS },
    { url, protocols: proof, frames: [...CALLS, SET] },
    { url: engine.url, protocols: proof, frames: CALLS },
    { url: `${engine.url}/otel`, frames: CALLS },
    { url: `${url}/otel`, protocols: proof, frames: CALLS },
    { url: `${engine.url}/ws/channels/a?key=b&dir=read`, frames: [] },
    { url: `${url}/?token=x/ws/channels/a?key=b&dir=write`, protocols: proof, frames: CALLS },
    { url: streamUrl, protocols: ['Authorization', TOKEN], frames: [JOIN] },
    { url: `${streamUrl}/stream/chat/room1/`, protocols: ['svc.stream.v1', 'Authorization', TOKEN], frames: [JOIN] },
  ];
}

/** A socket of the page: `refused`, or `opened` once everything was sent on it and something arrived or it closed. */
function attempt(page: Page, one: Try): Promise<string> {
  return page.evaluate(
    ({ url, protocols, frames }) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(url, [...(protocols ?? [])]);
        let answers = 0;
        socket.onopen = () => {
          for (const frame of frames) socket.send(JSON.stringify(frame));
        };
        socket.onmessage = ({ data }) => {
          // The answer to the last call: all earlier ones have been read.
          if (String(data).includes('invocationresult')) answers++;
          if (answers === frames.filter((frame) => 'invocation_id' in frame).length) resolve('opened');
        };
        socket.onclose = () => resolve('refused');
      }),
    one,
  );
}

/** Sent after all requests that the page may have got through. */
async function expectNothingRan(site: GuardedEngine): Promise<void> {
  await site.backend.trigger({ function_id: 'engine::health::check', payload: {} });
  expect(site.ran).toEqual([]);
  expect(site.tokens).toEqual([]);
}
