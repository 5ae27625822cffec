// `svc config check`: what a start would refuse, without a start, and with --connect ports and brokers too.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { type Finished, runSvc } from './cli-process.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-check-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function check(
  entries: readonly string[],
  flags: readonly string[] = [],
  env: Record<string, string> = {},
  more: readonly string[] = [],
): Promise<Finished> {
  const lines = ['workers:', ...entries.map((entry) => `  - ${entry}`), ...more];
  await writeFile(join(folder, 'svc-config.yaml'), lines.join('\n'));
  return await runSvc(['config', 'check', ...flags], { cwd: folder, env });
}

const CERTIFICATE = 'tls: {cert_file: none.pem, key_file: none.key}';
const REDIS = 'adapter: {name: extstore, config: {extstore_url: "redis://a", redis_url: "redis://b"}}';

test.each([
  ['a variable of the environment', '{name: svc-observability}', 'OTEL_ENABLED must be', { OTEL_ENABLED: 'perhaps' }],
  ['a certificate', `{name: svc-http, config: {port: 0, ${CERTIFICATE}}}`, 'none.pem', {}],
  [
    'a store that is a file',
    '{name: svc-state, config: {adapter: {name: kv, config: {file_path: taken}}}}',
    'taken',
    {},
  ],
  ['two addresses of one Redis', `{name: svc-state, config: {${REDIS}}}`, 'two names of one setting', {}],
  [
    'an address that is none of RabbitMQ',
    '{name: svc-queue, config: {adapter: {name: rabbitmq, config: {amqp_url: "http://a"}}}}',
    'not an address of RabbitMQ',
    {},
  ],
  [
    'priorities that RabbitMQ does not have',
    '{name: svc-queue, config: {queue_configs: {a: {priority_field: p}}, adapter: {name: rabbitmq}}}',
    'it lacks the capability priorities',
    {},
  ],
])('[K1] the check reports %s', async (_what, entry, message, env) => {
  await writeFile(join(folder, 'taken'), '');
  const { code, stderr } = await check([entry], [], env);
  expect(code).toBe(78);
  expect(stderr).toMatch(/svc-config\.yaml:2:\d+/);
  expect(stderr).toContain(message);
});

test('[K1] a directory of a store may exist', async () => {
  await mkdir(join(folder, 'taken'));
  const entry = '{name: svc-state, config: {adapter: {name: kv, config: {file_path: taken}}}}';
  expect(await check([entry])).toMatchObject({ code: 0 });
});

test('[K1] --connect reports a port in use, with exit code 7', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = Object(server.address());
  const entry = `{name: svc-http, config: {port: ${port}}}`;
  expect(await check([entry])).toMatchObject({ code: 0 });
  const { code, stdout } = await check([entry, '{name: svc-worker-manager, config: {port: 0}}'], ['--connect']);
  server.close();
  expect(code).toBe(7);
  expect(stdout).toContain(`FAIL  svc-http: port 127.0.0.1:${port}: another process listens on it`);
  expect(stdout).toContain('ok  svc-worker-manager: port 127.0.0.1:0');
});

test('[K1] [K3] --connect reports a broker that does not answer, with exit code 75', async () => {
  const entries = [
    '{name: svc-worker-manager, config: {port: 0}}',
    '{name: svc-state, config: {adapter: {name: extstore, config: {extstore_url: "redis://127.0.0.1:6379"}}}}',
    '{name: svc-cron, config: {adapter: {name: extstore, config: {extstore_url: "redis://127.0.0.1:1"}}}}',
  ];
  const { code, stdout } = await check(entries, ['--connect', '--json']);
  expect(code).toBe(75);
  const brokers = JSON.parse(stdout).connections.filter(({ kind }: { kind: string }) => kind === 'broker');
  expect(brokers).toEqual([
    { kind: 'broker', module: 'svc-state', what: 'broker redis://127.0.0.1:6379' },
    {
      kind: 'broker',
      module: 'svc-cron',
      what: 'broker redis://127.0.0.1:1',
      problem: expect.stringContaining('ECONNREFUSED'),
    },
  ]);
});

test.skipIf(NO_NATS_SERVER)(
  '[K1] [CL2] --connect reports a NATS that does not answer, with exit code 75, and one that does',
  async () => {
    await using nats = await NatsServer.start();
    const entry = '{name: svc-worker-manager, config: {port: 0}}';
    const clusterOn = (url: string) => [`cluster: {nats: {servers: ['${url}']}}`];
    const fine = await check([entry], ['--connect'], {}, clusterOn(nats.url));
    expect([fine.code, fine.stdout]).toEqual([0, expect.stringContaining(`ok  cluster: broker ${nats.url}`)]);
    const away = await check([entry], ['--connect'], {}, clusterOn('nats://127.0.0.1:1'));
    expect([away.code, away.stdout]).toEqual([75, expect.stringContaining('FAIL  cluster: broker nats://127.0.0.1:1')]);
  },
);
