// Six configuration files in the form of `iii`: checked, converted, and started both as they are and converted.

import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { isFree } from '../../support/free-port.ts';
import { NO_RABBITMQ, newPrefix, removeBrokerQueues } from '../../support/stores/rabbit-queues.ts';
import { waitFor } from '../../support/wait-for.ts';
import { runSvc } from '../cli/cli-process.ts';

const PORTS = ['WORKER_PORT', 'HTTP_PORT', 'STREAM_PORT', 'BROWSER_PORT'];
const prefix = newPrefix();

interface Configuration {
  /** Modules that run then. */
  readonly modules: readonly string[];
  /** What a start says, each in one line. */
  readonly warnings: readonly string[];
  readonly skip?: string | undefined;
}

const IS_FOREIGN = 'compat: this is a configuration of iii';

const CONFIGURATIONS: Readonly<Record<string, Configuration>> = {
  development: {
    modules: ['svc-http', 'svc-stream', 'svc-state', 'svc-queue', 'svc-pubsub', 'svc-cron'],
    warnings: [IS_FOREIGN],
  },
  observed: {
    modules: ['svc-observability', 'svc-http'],
    warnings: [
      IS_FOREIGN,
      'registration_namespace_grace_ms has no effect',
      'no functions configuration::*',
      'prometheus_port has no effect',
      'worker_metrics has no effect',
      'trace_storage has no effect',
    ],
  },
  classes: {
    modules: ['svc-stream', 'svc-http', 'svc-observability', 'svc-queue', 'svc-cron', 'svc-workers'],
    warnings: [IS_FOREIGN, 'is a worker that the engine starts and supervises'],
  },
  access: {
    modules: ['svc-worker-manager'],
    warnings: [IS_FOREIGN, 'functions that are a URL need no module', 'No allow_trigger_types'],
  },
  brokers: {
    modules: ['svc-state', 'svc-pubsub', 'svc-queue'],
    warnings: [IS_FOREIGN, "the waits of the fifo queue 'orders' are limited to 390000 ms"],
    skip: NO_RABBITMQ,
  },
  bridged: {
    modules: ['svc-stream', 'svc-state', 'svc-bridge'],
    warnings: [IS_FOREIGN],
  },
};

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-foreign-'));
  for (const port of PORTS) vi.stubEnv(port, '0');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** For files that name no port for workers. The system may have given that port to a connection of another test. */
async function defaultPortIsFree(yaml: string): Promise<void> {
  if (yaml.includes('WORKER_PORT')) return;
  await waitFor('the default port of workers is free', () => isFree(49_134), 60_000);
}

/** Names in the brokers that no other test uses. */
function fileOf(name: string): string {
  const text = readFileSync(new URL(`configs/${name}.yaml`, import.meta.url), 'utf8');
  return text
    .replace('queue_mode: standard', `queue_mode: standard\n          prefix: ${prefix}`)
    .replaceAll(/(redis_url: '?\$\{REDIS_URL:[^}]+\}'?)/g, `$1, key_prefix: '${prefix}:'`);
}

const linesWith = (text: string, word: string): string[] => text.split('\n').filter((line) => line.includes(word));

async function modulesOf(engine: EngineProcess): Promise<Record<string, { details?: unknown }>> {
  await using worker = await RawWorker.connect(engine.url);
  const { result } = await worker.call('engine::health::check', {});
  return (result as { components: { modules: Record<string, { details?: unknown }> } }).components.modules;
}

describe.each(Object.entries(CONFIGURATIONS))('the file %s', (name, { modules, warnings, skip }) => {
  test.skipIf(skip)('[K1] passes the check, with a warning for each setting that acts in another way', async () => {
    await writeFile(join(folder, 'config.yaml'), fileOf(name));
    const { code, stderr } = await runSvc(['config', 'check', '--config', 'config.yaml'], { cwd: folder });
    expect([code, stderr.match(/^error/m)]).toEqual([0, null]);
    for (const warning of warnings) expect(linesWith(stderr, warning), warning).toHaveLength(1);
    expect(linesWith(stderr, 'warning:')).toHaveLength(warnings.length);
  });

  test.skipIf(skip)('[K1] is converted into a file that needs no translation', async () => {
    await writeFile(join(folder, 'config.yaml'), fileOf(name));
    const written = ['config', 'convert', 'config.yaml', '--out', 'svc-config.yaml'];
    expect(await runSvc(written, { cwd: folder })).toMatchObject({ code: 0, stderr: '' });
    const text = await readFile(join(folder, 'svc-config.yaml'), 'utf8');
    expect(text).toContain('compat: iii');
    expect(text.replaceAll(/#.*/g, '')).not.toMatch(/iii-|modules::/);
    const again = await runSvc(['config', 'convert', 'svc-config.yaml'], { cwd: folder });
    expect(again.stderr).toContain('it is unchanged');
    expect(`${again.stdout.trimEnd()}\n`).toBe(text);
    const { code, stderr } = await runSvc(['config', 'check'], { cwd: folder });
    expect(code).toBe(0);
    expect(stderr).not.toContain(IS_FOREIGN);
  });

  test.skipIf(skip)('[K1] starts the engine, as it is and converted', async () => {
    await writeFile(join(folder, 'config.yaml'), fileOf(name));
    const { stdout } = await runSvc(['config', 'convert', 'config.yaml'], { cwd: folder });
    for (const yaml of [fileOf(name), stdout]) {
      await defaultPortIsFree(yaml);
      await using engine = await EngineProcess.start(yaml);
      expect(Object.keys(await modulesOf(engine))).toEqual(expect.arrayContaining([...modules]));
      engine.kill('SIGTERM');
      expect(await engine.end(30_000)).toMatchObject({ code: 0 });
    }
    if (name === 'brokers') await removeBrokerQueues(prefix, ['orders', 'default']);
  });
});

test('[K1] commands of iii-exec run in their order, and the last one stays', async () => {
  const yaml = fileOf('classes');
  await defaultPortIsFree(yaml);
  await using engine = await EngineProcess.start(yaml);
  await using worker = await RawWorker.connect(engine.url);
  const lines = await waitFor('the worker has started', async () => {
    const { result } = await worker.call('worker::logs', { name: 'exec' });
    const texts = JSON.stringify(result);
    return texts.includes('started for ws') ? texts : undefined;
  });
  expect(lines).toContain(`started for ${engine.url}`);
  expect(lines.lastIndexOf('prepared')).toBeLessThan(lines.indexOf('started for ws'));
});

test.skipIf(NO_RABBITMQ)('[Q4] health names the queues whose waits are limited', async () => {
  await using engine = await EngineProcess.start(fileOf('brokers'));
  const { 'svc-queue': queue } = await modulesOf(engine);
  expect(queue).toMatchObject({ details: { longest_wait_ms: { orders: 390_000 } } });
  await removeBrokerQueues(prefix, ['orders', 'default']);
});

test('[Q4] without compat the check refuses waits that RabbitMQ does not allow', async () => {
  await writeFile(join(folder, 'svc-config.yaml'), `compat: none\n${fileOf('brokers')}`);
  const { code, stderr } = await runSvc(['config', 'check'], { cwd: folder });
  expect(code).toBe(78);
  expect(stderr).toContain('add up to 1860000 ms, over two thirds of consumer_timeout_ms');
});

test('[X21] a file of iii keeps its placeholders when it is converted', async () => {
  await writeFile(join(folder, 'config.yaml'), fileOf('observed'));
  const { stdout } = await runSvc(['config', 'convert', 'config.yaml'], { cwd: folder });
  expect(stdout).toMatch(/port: \$\{WORKER_PORT:49134\}/);
  expect(stdout).toMatch(/service_version: \$\{SERVICE_VERSION:1\.0\.0\}/);
});

test('[X16] the hosts of iii-http-functions may be reached', async () => {
  await using engine = await startTestEngine({ yaml: fileOf('access').replaceAll(/\$\{\w+:\d+\}/g, '0') });
  await using worker = await RawWorker.connect(engine.url);
  for (const [id, url] of [
    ['a', 'http://localhost:1/'],
    ['b', 'http://10.0.0.1:1/'],
  ]) {
    worker.send({ type: 'registerfunction', id: String(id), invocation: { url, method: 'POST' } });
  }
  expect(await worker.next('registrationrejected')).toMatchObject({ function_id: 'b' });
});
