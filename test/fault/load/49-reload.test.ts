// Fault 49: the configuration changes repeatedly under load, to valid and to invalid files.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { faultRandom } from '../../support/load/fault-tools.ts';
import type { SeededRandom } from '../../support/random/seeded-random.ts';
import { enqueue } from '../../support/stores/queue-engine.ts';

const RELOADS = process.env.SVC_FAULT_ROUNDS === undefined ? 60 : 200;
const MEMORY = '{store_method: in_memory}';

interface File {
  readonly text: string;
  readonly queues: readonly string[];
  /** Modules with the adapter that the file gives them. */
  readonly adapters: Readonly<Record<string, string>>;
}

/** A configuration that the engine accepts, whatever it runs on now. */
function validFile(random: SeededRandom): File {
  const queues = ['a', 'b', 'c'].filter(() => random.chance(60));
  const configs = queues.map((name) => `${name}: {concurrency: ${random.between(1, 9)}}`);
  const http = [
    'port: 0',
    ...(random.chance(50) ? [`body_limit: ${random.between(100, 10_000)}`] : []),
    ...(random.chance(50) ? ['cors: {allowed_origins: ["https://shop.example"]}'] : []),
    ...(random.chance(50) ? [`concurrency_request_limit: ${random.between(50, 500)}`] : []),
  ];
  const entries = [
    '{name: svc-worker-manager, config: {port: 0}}',
    `{name: svc-http, config: {${http.join(', ')}}}`,
    `{name: svc-queue, config: {queue_configs: {${configs.join(', ')}}, adapter: {name: builtin, config: ${MEMORY}}}}`,
    `{name: svc-observability, config: {enabled: true, exporter: memory, sampling: {default: ${random.below(11) / 10}}}}`,
  ];
  const adapters: Record<string, string> = { 'svc-queue': 'builtin' };
  if (random.chance(50)) {
    entries.push(`{name: svc-cron, config: {adapter: {name: kv, config: ${MEMORY}}}}`);
    adapters['svc-cron'] = 'kv';
  }
  if (random.chance(50)) {
    entries.push('{name: svc-pubsub}');
    adapters['svc-pubsub'] = 'local';
  }
  return {
    text: `drain_timeout_ms: 100\nworkers:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`,
    queues,
    adapters,
  };
}

/** One that it refuses: for its syntax, its values, or a missing dependency. */
function brokenFile(random: SeededRandom, { text }: File): string {
  const breaks: readonly ((text: string) => string)[] = [
    (whole) => whole.slice(0, whole.lastIndexOf('}')),
    (whole) => whole.replace('queue_configs', 'queue_config'),
    (whole) => whole.replace('port: 0, ', '').replace('port: 0}', 'port: many}'),
    (whole) => `${whole}  - {name: svc-sate}\n`,
    (whole) => whole.replace('drain_timeout_ms: 100', 'drain_timeout_ms: 101'),
    (whole) => whole.replace('name: builtin', 'name: bulitin'),
    (whole) => whole.replace('config: {port: 0}}', 'config: {port: 0, host: 192.0.2.1}}'),
    (whole) => `${whole}  - {name: svc-stream, config: {port: 0, host: 192.0.2.1}}\n`,
    (whole) => whole.replace('queue_configs: {', 'queue_configs: {default: {type: fifo, message_group_field: g}, '),
  ];
  return random.pick(breaks)(text);
}

test(`[K1] [K2] fault 49: ${RELOADS} files, right and wrong, under load`, {
  timeout: 60_000 + RELOADS * 200,
}, async () => {
  using folder = new TemporaryFolder();
  const random = faultRandom('49');
  const file = join(folder.path, 'svc-config.yaml');
  let running = validFile(random);
  writeFileSync(file, running.text);
  await using engine = await startTestEngine({ configFile: file });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('load::echo', (data) => data);
  await worker.serve('load::page', () => ({ status_code: 200, body: 'here' }));
  const config = { api_path: '/page', http_method: 'GET' };
  worker.send({ type: 'registertrigger', id: 'page', trigger_type: 'http', function_id: 'load::page', config });
  await using load = await Load.begin(engine);
  for (let round = 0; round < RELOADS; round++) {
    const next = validFile(random);
    const isBroken = random.chance(50);
    const text = isBroken ? brokenFile(random, next) : next.text;
    writeFileSync(file, text);
    const report = await engine.reload();
    expect(report.ok, text).toBe(!isBroken);
    if (!isBroken) running = next;
    const health = await healthOf(worker);
    expect(health.status, text).toBe(isBroken ? 'degraded' : 'healthy');
    expect(health.adapters).toEqual(running.adapters);
    const taken = ['a', 'b', 'c'].map((queue) => enqueue(worker, 'load::echo', round, { queue }));
    const refused = (await Promise.all(taken)).map(({ error }) => error !== undefined);
    expect(refused).toEqual(['a', 'b', 'c'].map((queue) => !running.queues.includes(queue)));
  }
  const { calls, pages, failures } = await load.end();
  expect(failures).toEqual([]);
  expect(Math.min(calls, pages)).toBeGreaterThan(RELOADS / 4);
});

interface Health {
  readonly status: string;
  readonly adapters: Readonly<Record<string, string>>;
}

async function healthOf(worker: RawWorker): Promise<Health> {
  const { result } = await worker.call('engine::health::check');
  const { status, components } = result as {
    status: string;
    components: { modules: Record<string, { adapter?: string }> };
  };
  const adapters: Record<string, string> = {};
  for (const [name, { adapter }] of Object.entries(components.modules)) {
    if (adapter !== undefined) adapters[name] = adapter;
  }
  return { status, adapters };
}

/** Calls and requests, one after the other, until it ends. */
class Load implements AsyncDisposable {
  readonly #caller: RawWorker;
  readonly #done: Promise<unknown>;
  #isOver = false;
  #calls = 0;
  #pages = 0;
  readonly #failures: unknown[] = [];

  private constructor(caller: RawWorker, httpPort: number) {
    this.#caller = caller;
    this.#done = Promise.all([this.#call(), this.#call(), this.#request(httpPort)]);
  }

  static async begin(engine: TestEngine): Promise<Load> {
    const address = engine.urls.find((url) => url.startsWith('http:')) ?? '';
    return new Load(await RawWorker.connect(engine.url), Number(new URL(address).port));
  }

  async end() {
    this.#isOver = true;
    await this.#done;
    return { calls: this.#calls, pages: this.#pages, failures: this.#failures };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    await this.#caller[Symbol.asyncDispose]();
  }

  async #call(): Promise<void> {
    for (; !this.#isOver; this.#calls++) {
      const { error } = await this.#caller.call('load::echo', this.#calls);
      if (error !== undefined) this.#failures.push(error);
    }
  }

  async #request(httpPort: number): Promise<void> {
    for (; !this.#isOver; this.#pages++) {
      const { status, text } = await ask({ httpPort }, '/page');
      if (status !== 200) this.#failures.push({ status, text });
    }
  }
}
