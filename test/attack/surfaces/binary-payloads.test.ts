// Payloads of MessagePack that lie, sent by a page to workers of every form. They are read as what they are or refused,
// and nothing else is affected.

import { registerWorker, type SvcWorker } from 'svc-sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BinaryClient } from '../../support/clients/binary-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { restrictedUrl } from '../restricted-page.ts';

const YAML = `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: ['match("api::*")']}}}
`;

const REFUSED = Symbol('refused');
const bytes = (...parts: (number | string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))));

/** What the worker gets, or that the call is refused. */
const PAYLOADS: readonly (readonly [what: string, payload: Buffer, expected: unknown])[] = [
  ['an array that claims 4 294 967 295 items', bytes(0xdd, 0xff, 0xff, 0xff, 0xff), REFUSED],
  ['a map that claims 4 294 967 295 entries', bytes(0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1, 'a', 1), REFUSED],
  ['a text that claims 4 GiB', bytes(0xdb, 0xff, 0xff, 0xff, 0xff, 'abc'), REFUSED],
  ['bytes that claim 4 GiB', bytes(0xc6, 0xff, 0xff, 0xff, 0xff), REFUSED],
  ['100 000 nested arrays', bytes(Buffer.alloc(100_000, 0x91), 0xc0), REFUSED],
  ['100 000 nested maps', Buffer.concat(Array.from({ length: 100_000 }, () => bytes(0x81, 0xa1, 'a'))), REFUSED],
  ['nothing', bytes(), REFUSED],
  ['two values', bytes(0x01, 0x02), REFUSED],
  ['a code that is never used', bytes(0xc1), REFUSED],
  ['a record that msgpackr would define', bytes(0x92, 0xd4, 0x72, 0x40, 0x91, 0xa1, 'a', 0x01), REFUSED],
  ['a record that was never defined', bytes(0xd4, 0x72, 0x40), REFUSED],
  ['an extension for a class of JavaScript', bytes(0xc7, 0x03, 0x65, 0x92, 0x01, 0x02), REFUSED],
  ['a text that is not UTF-8', bytes(0xa2, 0xc3, 0x28), REFUSED],
  ['a key that is an array', bytes(0x81, 0x91, 0x01, 0x02), REFUSED],
  ['the key __proto__', bytes(0x81, 0xa9, '__proto__', 0x81, 0xa5, 'admin', 0xc3), REFUSED],
  [
    'the keys constructor and prototype',
    bytes(0x81, 0xab, 'constructor', 0x81, 0xa9, 'prototype', 0x81, 0xa5, 'admin', 0xc3),
    undefined,
  ],
  ['one key twice', bytes(0x82, 0xa1, 'a', 0x01, 0xa1, 'a', 0x02), undefined],
];

let engine: TestEngine;
let json: RawWorker;
let sdk: SvcWorker;

beforeAll(async () => {
  engine = await startTestEngine({ yaml: YAML });
  json = await RawWorker.connect(engine.url);
  const seen = (value: unknown): unknown => ({ isPolluted: Reflect.get({}, 'admin') !== undefined, value });
  await json.serve('api::json', seen);
  sdk = registerWorker(engine.url, { worker_name: 'sdk' });
  sdk.registerFunction('api::sdk', seen);
  await sdk.ready();
});

afterAll(async () => {
  await sdk?.shutdown();
  await engine?.drain();
});

describe.each(['api::json', 'api::sdk', 'engine::log::info'])('To %s', (functionId) => {
  test.each(PAYLOADS)('%s', async (_, payload, expected) => {
    await using page = await BinaryClient.connect(restrictedUrl(engine));
    const answer = await page.callPacked(functionId, payload);
    if (expected === REFUSED) expect(answer).toMatchObject({ isError: true, value: { code: expect.any(String) } });
    else if (functionId.startsWith('api::')) expect(answer).toMatchObject({ value: { isPolluted: false } });
    // The connection, the engine and the worker are unaffected.
    if (functionId.startsWith('api::')) {
      const next = await page.callPacked(functionId, bytes(0x01));
      expect(next).toEqual({ isError: false, value: { isPolluted: false, value: 1 } });
    }
    expect(Reflect.get({}, 'admin')).toBeUndefined();
  });
});
