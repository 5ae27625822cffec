import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { TestAuthority, type TestCertificate } from '../../support/certificates.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';

/** So many that both routers get some of them. */
const CONNECTIONS = 16;

function yamlOf({ certFile, keyFile }: Pick<TestCertificate, 'certFile' | 'keyFile'>): string {
  const tls = `{cert_file: ${certFile}, key_file: ${keyFile}}`;
  return `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-http, config: {port: 0, tls: ${tls}}}
`;
}

function subjectOf(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
  });
}

test('[RO12] [X26] a certificate whose files are replaced after a reload that named them is used on both routers', async () => {
  using folder = new TemporaryFolder();
  using authority = new TestAuthority();
  const file = join(folder.path, 'svc-config.yaml');
  const named = { certFile: join(folder.path, 'cert.pem'), keyFile: join(folder.path, 'key.pem') };
  const place = (subject: string): void => {
    const next = authority.issue({ subject });
    copyFileSync(next.certFile, named.certFile);
    copyFileSync(next.keyFile, named.keyFile);
  };
  writeFileSync(file, yamlOf(authority.issue({ subject: 'start' })));
  await using engine = await startTestEngine({ configFile: file, threads: 2 });
  const http = engine.urls.at(-1) ?? '';
  const subjects = async () => new Set(await Promise.all(Array.from({ length: CONNECTIONS }, () => subjectOf(http))));
  expect(await subjects()).toEqual(new Set(['start']));
  place('named');
  writeFileSync(file, yamlOf(named));
  expect(await engine.reload()).toMatchObject({ ok: true });
  expect(await subjects()).toEqual(new Set(['named']));
  place('replaced');
  expect(await engine.reload()).toMatchObject({ ok: true });
  expect(await subjects()).toEqual(new Set(['replaced']));
});
