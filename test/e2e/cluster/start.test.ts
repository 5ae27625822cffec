// How an engine of a cluster starts, and what it refuses.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { clusterYaml, statusOf, waitForEngines } from '../../support/cluster/cluster-engines.ts';
import { NatsServer, NO_NATS_SERVER } from '../../support/cluster/nats-server.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connect = sdkWorkers();

const USERS = `authorization {users: [{user: "svc", password: "right"}]}`;

describe.skipIf(NO_NATS_SERVER)('the start of an engine of a cluster', () => {
  test.each([
    ['svc-state', '', 'svc-state must not keep its data in a directory'],
    ['svc-stream', '{adapter: {name: kv, config: {store_method: in_memory}}}', 'in the memory of one engine'],
    ['svc-queue', '', 'extstore or rabbitmq'],
  ])('[CL2] is refused with 78 where %s %s keeps its data on one engine', async (name, config, text) => {
    await using nats = await NatsServer.start();
    const workers = `  - name: ${name}\n${config === '' ? '' : `    config: ${config}\n`}`;
    const start = startTestEngine({ yaml: clusterYaml({ nats: nats.url, workers }) });
    await expect(start).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining(text) });
    await expect(start).rejects.toThrow('With cluster, ');
  });

  test.each([
    ['another key prefix', 'key_prefix: other', 'svc-state keeps its data in extstore'],
    ['another Redis', 'extstore_url: redis://127.0.0.1:6379/1', 'svc-state keeps its data in extstore'],
  ])('[CL24] is refused with 78 where a live engine has %s', async (_what, field, text) => {
    await using nats = await NatsServer.start();
    const state = (more: string) => `  - name: svc-state\n    config: {adapter: {name: extstore, config: {${more}}}}\n`;
    const usual = `extstore_url: '${SHARED_REDIS}'`;
    await using first = await startTestEngine({ yaml: clusterYaml({ nats: nats.url, workers: state(usual) }) });
    const changed = field.startsWith('extstore_url') ? field : `${usual}, ${field}`;
    const start = startTestEngine({ yaml: clusterYaml({ nats: nats.url, workers: state(changed) }) });
    await expect(start).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining(text) });
    await expect(start).rejects.toThrow(first.url);
  });

  test('[CL24] is refused with 78 where a live engine answers as iii does', async () => {
    await using nats = await NatsServer.start();
    await using first = await startTestEngine({ yaml: clusterYaml({ nats: nats.url, more: 'compat: iii' }) });
    const start = startTestEngine({ yaml: clusterYaml({ nats: nats.url }) });
    await expect(start).rejects.toThrow('compat is none here and iii there');
    expect(first.log.join('\n')).toContain('The engine is a member of the cluster');
  });

  test('[CL24] with another balance is degraded, and names the other engine', async () => {
    await using nats = await NatsServer.start();
    await using first = await startTestEngine({ yaml: clusterYaml({ nats: nats.url, more: 'balance: newest' }) });
    await using second = await startTestEngine({ yaml: clusterYaml({ nats: nats.url }) });
    const { trouble } = await statusOf(connect(second.url));
    expect(trouble).toMatch(/^The engine \S+ at \S+ is configured differently: balance$/);
    expect(trouble).toContain(first.url);
  });

  test('[CL24] with other rules for a port of one name is degraded', async () => {
    await using nats = await NatsServer.start();
    const port = (rule: string) => `  - {name: svc-worker-manager, config: {port: 0, name: pages, rbac: {${rule}}}}\n`;
    const more = (rule: string) => ({ nats: nats.url, workers: port(rule) });
    await using first = await startTestEngine({ yaml: clusterYaml(more('shared_queues: [mail]')) });
    await using second = await startTestEngine({ yaml: clusterYaml(more('shared_queues: []')) });
    const { trouble } = await statusOf(connect(second.url));
    expect(trouble).toContain(first.url);
    expect(trouble).toContain('is configured differently: rbac of the port pages');
  });

  test('[CL34] warns of a port with rbac that has no name', async () => {
    await using nats = await NatsServer.start();
    const workers = '  - {name: svc-worker-manager, config: {port: 0, rbac: {auth_function_id: auth}}}\n';
    await using engine = await startTestEngine({ yaml: clusterYaml({ nats: nats.url, workers }) });
    expect(engine.warnings.join('\n')).toContain(
      'The port 127.0.0.1:0 has rbac and no name: other engines do not run the jobs of its connections',
    );
  });

  test('[CL34] is refused with 78 where two ports have one name', async () => {
    const port = '  - {name: svc-worker-manager, config: {port: 0, name: pages, rbac: {auth_function_id: auth}}}\n';
    const start = startTestEngine({ yaml: `workers:\n${port}${port}` });
    await expect(start).rejects.toMatchObject({ exitCode: 78 });
    await expect(start).rejects.toThrow("Another port is named 'pages', too. Give each port a name of its own.");
  });

  test('[CL2] waits for a NATS that starts later', async () => {
    await using nats = await NatsServer.reserve();
    const starting = EngineProcess.start(clusterYaml({ nats: nats.url }));
    const silent = createServer((socket) => socket.destroy()).listen(nats.port, '127.0.0.1');
    await once(silent, 'connection');
    silent.close();
    await once(silent, 'close');
    await nats.start();
    await using engine = await starting;
    expect(engine.stderr).toContain('The engine is a member of the cluster');
  });

  test('[CL2] is refused with 78 where the credentials are wrong', async () => {
    await using nats = await NatsServer.start({ more: USERS });
    const yaml = clusterYaml({ nats: nats.url }).replace(']}', `], user: svc, password: wrong}`);
    await using engine = await EngineProcess.spawn(yaml);
    expect(await engine.end(20_000)).toMatchObject({ code: 78 });
    expect(engine.stderr).toContain('the credentials are wrong. Check user, password or creds_file');
    expect(engine.stderr).not.toContain('wrong}');
  });

  test('[CL2] takes the credentials that it is given', async () => {
    await using nats = await NatsServer.start({ more: USERS });
    const yaml = clusterYaml({ nats: nats.url }).replace(']}', `], user: svc, password: right}`);
    await using engine = await startTestEngine({ yaml });
    expect(engine.log.join('\n')).toContain('The engine is a member of the cluster');
  });

  test('[CL2] succeeds next to others that start in the same moment, on a NATS without buckets', async () => {
    await using nats = await NatsServer.start();
    const yaml = clusterYaml({ nats: nats.url, prefix: 'together' });
    const engines = await Promise.all(Array.from({ length: 4 }, () => startTestEngine({ yaml })));
    await waitForEngines(connect(engines[0]?.url), 3);
    await Promise.all(engines.map((engine) => engine.drain()));
  });

  test('[CL2] is refused with 78 where JetStream is off', async () => {
    await using nats = await NatsServer.start({ hasJetStream: false });
    await using engine = await EngineProcess.spawn(clusterYaml({ nats: nats.url }));
    expect(await engine.end(20_000)).toMatchObject({ code: 78 });
    expect(engine.stderr).toContain('JetStream is off for this account');
  });

  test('[CL2] is refused with 78 where a file of credentials cannot be read', async () => {
    await using nats = await NatsServer.start();
    const yaml = clusterYaml({ nats: nats.url }).replace(']}', `], creds_file: missing.creds}`);
    await using engine = await EngineProcess.spawn(yaml);
    expect(await engine.end(20_000)).toMatchObject({ code: 78 });
    expect(engine.stderr).toContain('cluster.nats.creds_file cannot be read');
  });
});
