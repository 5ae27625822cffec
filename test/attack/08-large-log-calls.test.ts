// Calls of engine::log::… with megabytes, which would be cut to 16 KB, are refused before they are parsed.

import { expect, test } from 'vitest';
import { sdkWorkers } from '../e2e/sdk-workers.ts';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { expectCount } from '../support/engine/expect-count.ts';
import { startTestEngine, type TestEngine } from '../support/engine/test-engine.ts';
import { observedBy } from '../support/telemetry/observability-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectPage, restrictedUrl } from './restricted-page.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];
const LIMITED = [
  ...LEVELS.map((level) => `engine::log::${level}`),
  ...['get', 'set', 'get_all'].map((verb) => `engine::baggage::${verb}`),
  'engine::channels::create',
  'engine::workers::register',
];
const TOO_LARGE = { code: 'PAYLOAD_TOO_LARGE' };

const connect = sdkWorkers();

test('A payload of megabytes is refused before it is parsed, counted, and logged once a second', async () => {
  await using engine = await start();
  await using trusted = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const [little, much, most] = [numbers(64 * KIB + 1), numbers(MIB + 1), numbers(12 * MIB)];
  for (const functionId of LIMITED) {
    // A function that parsed this payload would refuse it with another error.
    expect(await errorOf(page, functionId, little)).toMatchObject(TOO_LARGE);
    expect(await errorOf(trusted, functionId, much)).toMatchObject(TOO_LARGE);
    await expectCount(engine, 2, 'payloads.refused', functionId);
  }
  expect(await errorOf(trusted, 'engine::log::warn', most)).toMatchObject(TOO_LARGE);
  const reported = await waitFor('all refusals are logged', () => {
    const lines = engine.log.filter((line) => line.includes('payloads are over its limit'));
    const calls = lines.map((line) => Number(/ calls=(\d+)/.exec(line)?.[1]));
    return calls.reduce((sum, count) => sum + count, 0) === 2 * LIMITED.length + 1 && lines;
  });
  expect(reported.join('\n')).toMatch(/function_id=engine::log::info calls=\d+ largest_bytes=\d+/);
});

test('A log record of exactly the limit is accepted', async () => {
  await using engine = await start();
  await using trusted = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  for (const [worker, bytes] of [
    [page, 64 * KIB],
    [trusted, MIB],
  ] as const) {
    const message = 'x'.repeat(bytes - '{"message":""}'.length);
    expect((await worker.call('engine::log::info', { message })).error).toBeUndefined();
    expect((await worker.call('engine::log::info', { message: `${message}x` })).error).toMatchObject(TOO_LARGE);
  }
});

test.each(['json', 'binary'] as const)('The limit applies to the SDK over the %s form', async (wire) => {
  await using engine = await start();
  const svc = connect(restrictedUrl(engine), { wire });
  const log = (payload: unknown) => svc.trigger({ function_id: 'engine::log::info', payload });
  await log({ message: 'short' });
  await expect(log({ message: 'x'.repeat(70 * KIB) })).rejects.toMatchObject(TOO_LARGE);
  // In the compact form each of these takes two bytes.
  const [key, count] = ['k'.repeat(900), 1_000];
  const data = Array.from({ length: count }, () => ({ [key]: 1 }));
  await expect(log({ message: 'many', data })).rejects.toMatchObject(TOO_LARGE);
});

/** A JSON text of this many bytes or one more, which is slow to parse. */
function numbers(bytes: number): string {
  return `[0${',0'.repeat(Math.ceil((bytes - 3) / 2))}]`;
}

async function errorOf(worker: RawWorker, functionId: string, json: string): Promise<unknown> {
  const head = JSON.stringify({ type: 'invokefunction', invocation_id: functionId, function_id: functionId });
  worker.sendText(`${head.slice(0, -1)},"data":${json}}`);
  return (await worker.answerTo(functionId)).error;
}

function start(): Promise<TestEngine> {
  const restricted = '  - name: svc-worker-manager\n    config: {port: 0, rbac: {}}\n';
  return startTestEngine({ yaml: observedBy('{enabled: true}') + restricted });
}
