// TLS of the engine as its users reach it: the command line, saved contexts, the console, programs that the engine
// starts; certificates that are replaced; and certificates of clients.

import { once } from 'node:events';
import { copyFileSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { startConsole } from '../../../src/console/server/server.ts';
import { registerWorker } from '../../../src/sdk/index.ts';
import { connectionOptions } from '../../../src/sdk/internal.ts';
import { TestAuthority, type TestCertificate } from '../../support/certificates.ts';
import { ProjectEngine, pidWorker } from '../../support/engine/project-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { finished, runSvc, spawnSvc, waitForText } from '../cli/cli-process.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

let authority: TestAuthority;
/** Valid only for names that do not lead to this machine. */
let remote: TestCertificate;
let local: TestCertificate;

beforeAll(() => {
  authority = new TestAuthority();
  remote = authority.issue({ names: ['DNS:*.svc.example'] });
  local = authority.issue();
});
afterAll(() => authority[Symbol.dispose]());

interface Wanted {
  readonly files?: TestCertificate;
  /** Of `tls` of the worker port. */
  readonly more?: string;
  readonly workers?: string;
  readonly top?: string;
}

function configOf({ files = local, more = '', workers = '', top = '' }: Wanted = {}): string {
  const tls = `cert_file: ${files.certFile}, key_file: ${files.keyFile}, ca_file: ${authority.caFile}`;
  const memory = 'adapter: {name: kv, config: {store_method: in_memory}}';
  return `${top}drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0, tls: {${tls}${more}}}}
  - {name: svc-http, config: {port: 0, tls: {${tls}}}}
  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, tls: {${tls}}, ${memory}}}
  - {name: svc-state, config: {${memory}}}
${workers}`;
}

const ports = (engine: ProjectEngine): number[] => engine.listeners.map((url) => Number(new URL(url).port));

/** A command with the authority in its environment. */
function svc(engine: ProjectEngine, args: readonly string[], env: Record<string, string> = {}) {
  const [, http = '', streams = ''] = engine.listeners;
  const addresses = { SVC_URL: engine.url, SVC_HTTP_URL: http, SVC_STREAM_URL: streams };
  return runSvc(args, { cwd: engine.folder, env: { ...addresses, SVC_CA_FILE: authority.caFile, ...env } });
}

describe.concurrent('programs that the engine starts', { timeout: 60_000 }, () => {
  test.each([
    ['of this machine', () => local],
    ['of another name', () => remote],
  ])('trust a certificate %s', async (_what, files) => {
    const workers = '  - name: orders\n    path: ./orders\n';
    await using engine = await ProjectEngine.start(configOf({ files: files(), workers }), {
      orders: pidWorker('orders'),
    });
    expect(engine.url).toMatch(/^wss:/);
    const env: Record<string, string> = files() === remote ? { SVC_SERVER_NAME: 'engine.svc.example' } : {};
    const call = () => svc(engine, ['trigger', 'orders::pid'], env);
    await waitFor('the program answers', async () => (await call()).code === 0, 30_000);
  });
});

describe('the command line with TLS', () => {
  let engine: ProjectEngine;

  beforeAll(async () => {
    engine = await ProjectEngine.start(configOf());
  });
  afterAll(() => engine[Symbol.asyncDispose]());

  test('[X28] calls functions, and explains a certificate that it does not trust', async () => {
    expect(await svc(engine, ['workers', 'list'])).toMatchObject({ code: 0 });
    const flag = await svc(engine, ['workers', 'list', '--ca-file', authority.caFile], { SVC_CA_FILE: '' });
    expect(flag.code).toBe(0);
    const untrusted = await svc(engine, ['workers', 'list'], { SVC_CA_FILE: '' });
    expect(untrusted.code).not.toBe(0);
    expect(untrusted.stderr).toContain('tls.ca_file or SVC_CA_FILE');
    const missing = await svc(engine, ['workers', 'list', '--ca-file', 'none.pem']);
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain(`tls.ca_file: cannot read ${join(engine.folder, 'none.pem')} (ENOENT)`);
  });

  test('sends HTTP requests', async () => {
    const answer = await svc(engine, ['http', 'GET', '/none']);
    expect(answer.stderr).toContain('404');
    const untrusted = await svc(engine, ['http', 'GET', '/none'], { SVC_CA_FILE: '' });
    expect(untrusted.stderr).toContain('tls.ca_file or SVC_CA_FILE');
    const plain = (engine.listeners[1] ?? '').replace('https:', 'http:');
    const wrong = await svc(engine, ['http', 'GET', '/none'], { SVC_HTTP_URL: plain });
    expect(wrong.stderr).toContain('a port with TLS needs https://');
  });

  test('watches streams and runs benchmarks of HTTP', async () => {
    const [, http = '', streams = ''] = engine.listeners;
    const env = { SVC_URL: engine.url, SVC_HTTP_URL: http, SVC_CA_FILE: authority.caFile };
    const watch = spawnSvc(['stream', 'watch', 'chat/room', '--stream-url', streams], { cwd: engine.folder, env });
    await waitForText(watch.stderr, /Watching 0 item/);
    watch.kill('SIGINT');
    await finished(watch);
    const bench = await svc(engine, ['bench', 'http', '--msgs', '20', '--clients', '2', '--warmup', '0s', '--json']);
    expect(JSON.parse(bench.stdout)).toMatchObject({ ops: 20, errors: {} });
  });

  test('uses the authority of a context', async () => {
    const env = { XDG_CONFIG_HOME: join(engine.folder, 'home') };
    const at = { cwd: engine.folder, env };
    const add = ['context', 'add', 'here', '--url', engine.url, '--ca-file', authority.caFile, '--use'];
    expect(await runSvc(add, at)).toMatchObject({ code: 0 });
    expect(await runSvc(['workers', 'list'], at)).toMatchObject({ code: 0 });
    expect((await runSvc(['context', 'show'], at)).stdout).toContain(authority.caFile);
  });

  test('finds its engine and its certificates with svc doctor, without any address', async () => {
    const [port = 0] = ports(engine);
    const text = configOf().replace('port: 0', `port: ${port}`);
    await engine.writeConfig(text);
    const { stdout } = await runSvc(['doctor', '--json'], { cwd: engine.folder });
    const { checks }: { checks: { name: string; level: string; text: string }[] } = JSON.parse(stdout);
    expect(checks.find(({ name }) => name === 'engine')).toMatchObject({
      level: 'ok',
      text: expect.stringContaining('wss:'),
    });
    expect(checks.find(({ name }) => name === 'certificate of svc-http')?.text).toMatch(/^valid until .* localhost/);
  });
});

test('svc dev connects to its own engine and serves the console of an engine with TLS', {
  timeout: 60_000,
}, async () => {
  const dev = spawnSvc(['dev', '--port-offset', '7321'], { cwd: folderWith(configOf()) });
  const [, url = ''] = /Console: (\S+)/.exec(await waitForText(dev.stderr, /Console: \S+/)) ?? [];
  await waitFor('the console reaches the engine', async () => {
    const answer = await fetch(`${url}api/status`).catch(() => undefined);
    return answer?.status === 200;
  });
  dev.kill('SIGTERM');
  await finished(dev);
});

describe('the console with TLS', () => {
  test('serves its pages with TLS, and reaches an engine with TLS', async () => {
    await using engine = await ProjectEngine.start(configOf());
    const [bridgePort = 0, enginePort = 0, streamPort = 0] = ports(engine);
    const running = await startConsole(
      {
        host: '127.0.0.1',
        port: 0,
        ...{ engineHost: '127.0.0.1', enginePort, streamPort, bridgePort },
        engineTls: new Set(['http', 'streams', 'workers'] as const),
        trust: { ca_file: authority.caFile },
        tls: { ...local, minVersion: 'TLSv1.3' },
        token: undefined,
        isReadOnly: false,
        hasFlow: false,
        serviceName: 'svc-console',
      },
      () => {},
    );
    try {
      expect(running.url).toMatch(/^https:/);
      const trust = connectionOptions({ ca_file: authority.caFile });
      const ask = (path: string) =>
        new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
          get(`${running.url}${path}`, { ...trust, agent: false }, (answer) => {
            let text = '';
            answer.setEncoding('utf8').on('data', (piece: string) => {
              text += piece;
            });
            answer.on('end', () => resolve({ status: answer.statusCode, text }));
          }).on('error', reject);
        });
      expect((await ask('')).text).toContain('<!doctype html>');
      expect(await ask('api/status')).toMatchObject({ status: 200 });
      await waitFor('it is connected', async () => JSON.parse((await ask('console.json')).text).engine.connected);
      expect(JSON.parse((await ask('console.json')).text).engine.http_url).toMatch(/^https:/);
      const live = new WebSocket(`${running.url.replace('https:', 'wss:')}api/live`, {
        ca: trust.ca,
        origin: running.url.slice(0, -1),
      });
      await once(live, 'open');
      live.close();
      const port = Number(new URL(running.url).port);
      const old = connect({ port, host: '127.0.0.1', ...trust, maxVersion: 'TLSv1.2' });
      const [error] = await once(old, 'error');
      expect(String(error)).toMatch(/protocol version/i);
    } finally {
      await running.stop();
    }
  });

  test('refuses half of a certificate, and ports that it does not know', async () => {
    const half = await runSvc(['console', '--tls-cert-file', local.certFile]);
    expect(half).toMatchObject({ code: 2 });
    expect(half.stderr).toContain('--tls-cert-file and --tls-key-file are given together');
    const ports = await runSvc(['console', '--engine-tls', 'http,bridge']);
    expect(ports.stderr).toContain('expected all, or a list of http, streams, workers');
    const mixed = await runSvc(['console', '--tls-cert-file', local.certFile, '--tls-key-file', remote.keyFile]);
    expect(mixed).toMatchObject({ code: 2 });
    expect(mixed.stderr).toContain('does not belong to the certificate');
  });
});

describe('a certificate whose files are replaced', () => {
  async function subjectOf(port: number): Promise<string | undefined> {
    const socket = connect({ port, host: '127.0.0.1', ...connectionOptions({ ca_file: authority.caFile }) });
    await once(socket, 'secureConnect');
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return Array.isArray(CN) ? CN.join() : CN;
  }

  test('[X26] is used on SIGHUP, and without any signal a few seconds later', { timeout: 30_000 }, async () => {
    const folder = mkdtempSync(join(authority.folder, 'engine-'));
    const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
    const place = (subject: string): void => {
      const next = authority.issue({ subject });
      copyFileSync(next.keyFile, `${files.keyFile}.next`);
      copyFileSync(next.certFile, `${files.certFile}.next`);
      renameSync(`${files.keyFile}.next`, files.keyFile);
      renameSync(`${files.certFile}.next`, files.certFile);
    };
    place('first');
    writeFileSync(join(folder, 'svc-config.yaml'), configOf({ files }));
    await using running = await ProjectEngine.startIn(folder, {});
    const all = ports(running);
    const subjects = () => Promise.all(all.map((port) => subjectOf(port)));
    expect(await subjects()).toEqual(['first', 'first', 'first']);
    place('second');
    running.child.kill('SIGHUP');
    await waitFor('the signal acts', async () => (await subjects()).every((subject) => subject === 'second'));
    place('third');
    await waitFor(
      'the files are noticed',
      async () => (await subjects()).every((subject) => subject === 'third'),
      15_000,
    );
    writeFileSync(files.certFile, 'broken');
    const health = () => svc(running, ['trigger', 'engine::health::check']);
    await waitFor(
      'the health reports it',
      async () => (await health()).stdout.includes('keeps its certificate'),
      15_000,
    );
    expect(await subjects()).toEqual(['third', 'third', 'third']);
  });
});

test('[X26] a certificate that soon expires is a warning in the health', async () => {
  const soon = authority.issue({
    validFrom: new Date(Date.now() - 80 * DAY_MS),
    expires: new Date(Date.now() + 10 * DAY_MS + 3_600_000),
  });
  await using engine = await ProjectEngine.start(configOf({ files: soon }));
  const { stdout } = await svc(engine, ['trigger', 'engine::health::check', '--json']);
  expect(stdout).toContain(`The certificate in '${soon.certFile}' expires in 10 days`);
  expect(stdout).toContain('"degraded"');
});

describe('certificates of clients', () => {
  const more = () => `, client_certificates: required, client_ca_file: ${authority.caFile}`;

  function refusal(url: string, tls: object): Promise<string> {
    return new Promise((resolve) => {
      const made = registerWorker(url, {
        handle_signals: false,
        tls: { ca_file: authority.caFile, ...tls },
        log: (level, message) => {
          if (level === 'info') return;
          resolve(message);
          made.shutdown().catch(() => {});
        },
      });
    });
  }

  test('[X27] that are required admit only clients of the authority, also beyond this machine', async () => {
    using other = new TestAuthority();
    const config = configOf({ more: more() }).replace('{port: 0, tls', '{port: 0, host: 0.0.0.0, tls');
    await using engine = await ProjectEngine.startIn(folderWith(config), { SVC_TRANSPORT: 'ws' });
    const url = engine.url.replace('0.0.0.0', '127.0.0.1');
    const { certFile, keyFile } = authority.issue({ subject: 'orders', names: [] });
    const client = registerWorker(url, {
      handle_signals: false,
      tls: { ca_file: authority.caFile, cert_file: certFile, key_file: keyFile },
    });
    await client.ready();
    await client.shutdown();
    expect(await refusal(url, {})).toMatch(/certificate/);
    const stranger = other.issue({ names: [] });
    const tls = { cert_file: stranger.certFile, key_file: stranger.keyFile };
    expect(await refusal(url, tls)).not.toBe('');
    const env = { SVC_CERT_FILE: certFile, SVC_KEY_FILE: keyFile, SVC_URL: url };
    expect(await svc(engine, ['workers', 'list', '--json'], env)).toMatchObject({ code: 0 });
  });

  test('[X25] are an error on uWebSockets.js that names the transport which has them', async () => {
    const child = spawnSvc(['start'], { cwd: folderWith(configOf({ more: more() })) });
    const { code, stderr } = await finished(child);
    expect(code).toBe(78);
    expect(stderr).toContain('client_certificates: uWebSockets.js cannot report them');
    expect(stderr).toContain('SVC_TRANSPORT=ws');
  });
});

/** It is removed with the authority. */
function folderWith(config: string): string {
  const folder = mkdtempSync(join(authority.folder, 'engine-'));
  writeFileSync(join(folder, 'svc-config.yaml'), config);
  return folder;
}
