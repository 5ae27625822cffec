// Triggers of a page that target functions of the engine, which cause the next event: with a hundred of them, each
// level of a nested payload made a hundred times as many calls as the one before, within one turn of the engine.

import { expect, test } from 'vitest';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../support/engine/test-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { connectPage } from './restricted-page.ts';

const TRIGGERS = 100;

function startEngine(): Promise<TestEngine> {
  const exposed = `match("publish"), match("state::*"), match("api::*")`;
  const entries = exposed.split(', ').map((entry) => `'${entry}'`);
  const rbac = `expose_functions: [${entries}], allow_trigger_types: [subscribe, event, state]`;
  return startTestEngine({
    yaml: [
      'drain_timeout_ms: 100',
      'workers:',
      '  - {name: svc-worker-manager, config: {port: 0}}',
      `  - {name: svc-worker-manager, config: {port: 0, rbac: {${rbac}}}}`,
      '  - {name: svc-pubsub}',
      '  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}',
      '',
    ].join('\n'),
  });
}

interface Binding {
  readonly trigger_type: string;
  readonly function_id: string;
  readonly config: Readonly<Record<string, unknown>>;
}

async function bindMany(page: RawWorker, binding: Binding): Promise<void> {
  for (let number = 0; number < TRIGGERS; number++) {
    page.send({ type: 'registertrigger', id: `${page.workerId} ${number}`, ...binding });
  }
  await page.settled();
  expect(page.frames.filter(({ type }) => type === 'triggerregistrationresult')).toEqual([]);
}

/** An event whose data publishes the same event again, and so on. */
function nested(levels: number): unknown {
  let event: unknown = { topic: 'end', data: null };
  for (let level = 0; level < levels; level++) event = { topic: 'loop', data: event };
  return event;
}

function refusedFirings(engine: TestEngine): number {
  return engine.counters.get('triggers.rate_limited');
}

test.each(['subscribe', 'event'])('One message does not multiply through triggers of type %s', async (type) => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  await bindMany(page, { trigger_type: type, function_id: 'publish', config: { topic: 'loop' } });
  await page.call('publish', nested(2));
  // 10 100 calls without the limit. With it 400, and what they cause is refused.
  await waitFor('most of them are refused', () => refusedFirings(engine) > 50);
  // Each level would take a hundred times as long as the one before.
  await page.call('publish', nested(30));
  expect(await client.call('engine::baggage::get_all', {})).not.toHaveProperty('error');
});

test('Nor does it through conditions, or through a pattern of topics', async () => {
  await using engine = await startEngine();
  await using page = await connectPage(engine);
  const config = { topic: 'l*p', condition_function_id: 'publish' };
  await bindMany(page, { trigger_type: 'event', function_id: 'api::none', config });
  await page.call('publish', nested(2));
  await waitFor('most of them are refused', () => refusedFirings(engine) > 50);
  expect(await page.call('publish', nested(30))).not.toHaveProperty('error');
});

test('The calls of the page itself do not count, and its own functions are called at any rate', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  await page.register('own');
  page.send({ type: 'registertrigger', id: 'own', trigger_type: 'event', function_id: 'own', config: { topic: 'a' } });
  const logs = { trigger_type: 'event', function_id: 'engine::baggage::get', config: { topic: 'a' } };
  page.send({ type: 'registertrigger', id: 'builtin', ...logs });
  await page.settled();
  // At once: one after the other would be below the rate on a slow machine.
  const sent = Array.from({ length: 800 }, (_, data) => client.startCall('publish', { topic: 'a', data }));
  for (const id of sent) await client.answerTo(id);
  await waitFor('all events have come', () => page.frames.length === 800, 30_000);
  await waitFor('some of them are refused', () => refusedFirings(engine) > 0);
  expect(await page.call('publish', { topic: 'b', data: 1 })).not.toHaveProperty('error');
});
