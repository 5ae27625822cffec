// Terminal control sequences in every text that a worker can send. The command line prints the texts without control
// characters: none moves the cursor, changes a colour, writes the clipboard or reverses a line.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSvc } from '../../e2e/cli/cli-process.ts';
import { ALL, plantAll, SEQUENCES, UNSAFE } from '../../support/clients/hostile-texts.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { deadLettersOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';
const YAML = `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-state, config: {${MEMORY}}}
  - {name: svc-pubsub}
  - {name: svc-stream, config: {port: 0, ${MEMORY}}}
  - name: svc-queue
    config:
      queue_configs: {mail: {max_retries: 0, concurrency: 10}}
      adapter: {name: builtin, config: {store_method: in_memory}}
  - {name: svc-observability, config: {enabled: true, exporter: memory, logs_enabled: true}}
`;

let engine: TestEngine;
let worker: RawWorker;

beforeAll(async () => {
  engine = await startTestEngine({ yaml: YAML });
  worker = await RawWorker.connect(engine.url);
  await plantAll(worker);
  await waitFor('the dead letters exist', async () => (await deadLettersOf(worker, 'mail')).length >= ALL.length);
}, 30_000);

afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await engine?.drain();
});

describe('a text of a worker', () => {
  test.each(Object.entries(SEQUENCES))(
    'with %s contains control characters and is stored unchanged',
    async (_name, text) => {
      expect(text).toMatch(UNSAFE);
      const key = `k${ALL.indexOf(text)}`;
      expect(await worker.call('state::get', { scope: 'hostile', key })).toMatchObject({ result: { [text]: text } });
    },
  );

  test.concurrent.each([
    ['functions', 'list'],
    ['functions', 'info', 'plain::18'],
    ['workers', 'list'],
    ['triggers', 'list'],
    ['logs', '-n', '100'],
    ['trace', 'list'],
    ['trace', 'show', 'last'],
    ['state', 'list', '--scope', 'hostile'],
    ['state', 'get', 'hostile', 'k18'],
    ['stream', 'items', 'hostile', 'g'],
    ['queue', 'dlq', 'list', 'mail'],
    ['functions', 'list', '-o', 'json'],
    ['trigger', 'plain::18'],
    ['trigger', 'plain::24'],
    ['trigger', SEQUENCES['the screen cleared'] ?? ''],
    [SEQUENCES['a link'] ?? ''],
  ])('is printed by svc %j %j %j without control characters', async (...args) => {
    const { stdout, stderr } = await runSvc([...args, '--url', engine.url]);
    expect((stdout + stderr).length).toBeGreaterThan(0);
    expect(UNSAFE.exec(stdout + stderr)).toBeNull();
  });
});
