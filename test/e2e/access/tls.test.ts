// TLS of the engine's ports: with clients of the SDK, reloads, and certificates that cannot be used.

import { copyFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { registerWorker, type SvcWorker, type TlsOptions } from '../../../src/sdk/index.ts';
import { connectionOptions } from '../../../src/sdk/internal.ts';
import { TestAuthority, type TestCertificate } from '../../support/certificates.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { onBothTransports } from '../both-transports.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

let authority: TestAuthority;
let other: TestAuthority;
let usual: TestCertificate;

beforeAll(() => {
  authority = new TestAuthority();
  other = new TestAuthority('Another authority');
  usual = authority.issue();
});
afterAll(() => {
  authority[Symbol.dispose]();
  other[Symbol.dispose]();
});

interface Wanted extends Partial<TestCertificate> {
  /** Of the worker port. */
  readonly more?: string;
}

function configOf({ certFile = usual.certFile, keyFile = usual.keyFile, more = '' }: Wanted = {}): string {
  const files = `cert_file: ${certFile}, key_file: ${keyFile}`;
  const tls = `tls: {${files}}`;
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0, tls: {${files}${more}}}}
  - {name: svc-http, config: {port: 0, ${tls}}}
  - {name: svc-stream, config: {port: 0, host: 127.0.0.1, ${tls}, adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-workers}
`;
}

/** A worker that closes when the test ends. */
function worker(url: string, tls: TlsOptions | undefined, options: object = {}): SvcWorker & AsyncDisposable {
  const made = registerWorker(url, { handle_signals: false, log: () => {}, ...(tls && { tls }), ...options });
  return Object.assign(made, { [Symbol.asyncDispose]: () => made.shutdown() });
}

/** Why the first connection failed. */
function refusal(url: string, tls: TlsOptions | undefined): Promise<string> {
  return new Promise((resolve) => {
    const made = registerWorker(url, {
      handle_signals: false,
      ...(tls && { tls }),
      log: (level, message) => {
        if (level === 'info') return;
        resolve(message);
        made.shutdown().catch(() => {});
      },
    });
  });
}

function request(url: string, path: string): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = get(`${url}${path}`, { ...connectionOptions({ ca_file: authority.caFile }), agent: false });
    asked.on('error', reject);
    asked.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
    });
  });
}

const portsOf = (engine: TestEngine) => {
  const find = (scheme: string, nth = 0): string => engine.urls.filter((url) => url.startsWith(scheme))[nth] ?? '';
  return { workers: find('wss:'), http: find('https:'), streams: find('wss:', 1) };
};

onBothTransports('an engine with TLS', () => {
  let engine: TestEngine;
  let folder: TemporaryFolder;
  let file: string;

  beforeAll(() => {
    folder = new TemporaryFolder();
    file = join(folder.path, 'svc-config.yaml');
  });
  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  async function running(): Promise<TestEngine> {
    if (engine !== undefined) return engine;
    writeFileSync(file, configOf());
    engine = await startTestEngine({ configFile: file });
    return engine;
  }

  test('serves calls, HTTP, channels and streams to clients that trust its authority', async () => {
    const { workers, http, streams } = portsOf(await running());
    const tls = { ca_file: authority.caFile };
    await using svc = worker(workers, tls, { stream_url: streams });
    const echo = svc.registerFunction('tls::echo', (payload: unknown) => payload);
    expect(await echo.trigger({ text: 'x'.repeat(100_000) })).toEqual({ text: 'x'.repeat(100_000) });
    svc.registerFunction('tls::http', () => ({ status_code: 200, body: { ok: true } }));
    svc.registerTrigger({ type: 'http', function_id: 'tls::http', config: { api_path: '/tls', http_method: 'GET' } });
    await waitFor('the route answers', async () => (await request(http, '/tls')).status === 200);
    expect(JSON.parse((await request(http, '/tls')).body)).toEqual({ ok: true });
    const seen: unknown[] = [];
    const subscription = svc
      .stream('tls')
      .group<{ n: number }>('all')
      .subscribe({
        onSync: (items) => seen.push(items.size),
        onChange: ({ data }) => seen.push(data),
      });
    await waitFor('the subscription begins', () => seen.length === 1);
    await svc.stream('tls').group('all').set('one', { n: 1 });
    await waitFor('the change arrives', () => seen.length === 2);
    expect(seen).toEqual([0, { n: 1 }]);
    subscription.close();
  });

  test('[X28] is refused by a client that does not trust its authority, which learns how to', async () => {
    const { workers } = portsOf(await running());
    expect(await refusal(workers, undefined)).toContain(
      'name the authority of the engine in tls.ca_file or SVC_CA_FILE',
    );
    expect(await refusal(workers, { ca_file: other.caFile })).toContain('tls.ca_file or SVC_CA_FILE');
  });

  test('[X28] is not trusted when the environment switches the checks of Node off', async () => {
    const { workers } = portsOf(await running());
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    expect(await refusal(workers, undefined)).toContain('tls.ca_file or SVC_CA_FILE');
  });

  test('trusts a name instead of the host where the client gives one', async () => {
    const { workers } = portsOf(await running());
    const ca_file = authority.caFile;
    await using svc = worker(workers, { ca_file, server_name: 'localhost' });
    await svc.ready();
    expect(await refusal(workers, { ca_file, server_name: 'elsewhere.example' })).toContain('tls.server_name');
  });

  test('advises a client without TLS to use wss://', async () => {
    const { workers } = portsOf(await running());
    expect(await refusal(workers.replace('wss:', 'ws:'), undefined)).toContain('a port with TLS needs wss://');
  });

  test('[X26] uses a certificate that replaced its files after a reload, and keeps open connections', async () => {
    const { workers, http } = portsOf(await running());
    const files = authority.issue({ subject: 'first' });
    const more = { certFile: join(folder.path, 'cert.pem'), keyFile: join(folder.path, 'key.pem') };
    copyFileSync(files.certFile, more.certFile);
    copyFileSync(files.keyFile, more.keyFile);
    writeFileSync(file, configOf(more));
    expect(await engine.reload()).toMatchObject({ ok: true });
    const lost: unknown[] = [];
    await using svc = worker(workers, { ca_file: authority.caFile });
    svc.on('disconnected', (closure) => lost.push(closure));
    await svc.ready();
    const next = other.issue();
    copyFileSync(next.certFile, more.certFile);
    copyFileSync(next.keyFile, more.keyFile);
    const report = await engine.reload();
    expect(report).toMatchObject({ ok: true });
    expect(report.ok && report.changes.toSorted()).toEqual([
      expect.stringMatching(/^svc-http: certificate valid until /),
      expect.stringMatching(/^svc-stream: certificate valid until /),
      expect.stringMatching(/^svc-worker-manager: certificate valid until /),
    ]);
    await using late = worker(workers, { ca_file: other.caFile });
    await late.ready();
    await expect(request(http, '/')).rejects.toThrow();
    const list = await svc.trigger({ function_id: 'engine::health::check', payload: {} });
    expect(list).toBeDefined();
    expect(lost).toEqual([]);
    writeFileSync(more.keyFile, 'no key');
    const refused = await engine.reload();
    expect(refused).toMatchObject({ ok: false });
    expect(JSON.stringify(refused)).toContain('holds no private key in PEM form');
    await using still = worker(workers, { ca_file: other.caFile });
    await still.ready();
    writeFileSync(file, configOf());
    expect(await engine.reload()).toMatchObject({ ok: true });
  });

  test('[X25] is not switched off by a reload', async () => {
    await running();
    writeFileSync(file, configOf().replaceAll(/, tls: \{[^}]*\}/g, ''));
    const report = await engine.reload();
    expect(report).toMatchObject({ ok: false });
    expect(JSON.stringify(report)).toContain('whether there is tls can only change with a new start of the engine');
    writeFileSync(file, configOf());
    expect(await engine.reload()).toMatchObject({ ok: true });
  });
});

describe('[X25] a certificate that cannot be used refuses the start, and names file and reason', () => {
  async function startFailure(yaml: string): Promise<{ code: number | null; stderr: string }> {
    await using engine = await EngineProcess.spawn(yaml);
    const { code } = await engine.end(20_000);
    return { code, stderr: engine.stderr };
  }

  test('one that expired', async () => {
    const expires = new Date(Date.now() - DAY_MS);
    const { certFile, keyFile } = authority.issue({ validFrom: new Date(Date.now() - 10 * DAY_MS), expires });
    const { code, stderr } = await startFailure(configOf({ certFile, keyFile }));
    expect(code).toBe(78);
    expect(stderr).toContain(`cert_file '${certFile}' expired at ${expires.toISOString().slice(0, 13)}`);
  });

  test('one that is not valid yet', async () => {
    const { certFile, keyFile } = authority.issue({ validFrom: new Date(Date.now() + DAY_MS) });
    const { code, stderr } = await startFailure(configOf({ certFile, keyFile }));
    expect(code).toBe(78);
    expect(stderr).toContain(`cert_file '${certFile}' is not valid before`);
  });

  test('one whose key is that of another, or no key', async () => {
    const { keyFile } = authority.issue();
    const mixed = await startFailure(configOf({ keyFile }));
    expect(mixed.code).toBe(78);
    expect(mixed.stderr).toContain(`key_file '${keyFile}' does not belong to the certificate in '${usual.certFile}'`);
    const none = await startFailure(configOf({ keyFile: usual.certFile }));
    expect(none.stderr).toContain(`key_file '${usual.certFile}' holds no private key in PEM form`);
  });

  test('one that does not exist', async () => {
    const { code, stderr } = await startFailure(configOf({ certFile: '/none/cert.pem' }));
    expect(code).toBe(78);
    expect(stderr).toContain("cert_file '/none/cert.pem' cannot be read (ENOENT)");
  });

  test('what uWebSockets.js cannot keep, with the transport that can', async () => {
    const { code, stderr } = await startFailure(configOf({ more: ', min_version: TLSv1.3' }));
    expect(code).toBe(78);
    expect(stderr).toContain('set SVC_TRANSPORT=ws');
  });
});
