// The configuration is shown on screens, in tickets and in the console: it must not contain the secrets of addresses.

import { expect, test } from 'vitest';
import { makeFolder, runSvc } from '../e2e/cli/cli-process.ts';
import { ask } from '../support/clients/http-engine.ts';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { startTestEngine } from '../support/engine/test-engine.ts';
import { startConsoleEngine } from '../support/telemetry/console-engine.ts';
import { waitFor } from '../support/wait-for.ts';

/** Each secret contains this word. */
const PLANTED = 'pl4nted';

const ENDPOINT = `https://${PLANTED}-user:${PLANTED}-password@collector.example:4318/v1?api-key=${PLANTED}-query`;
const WEBHOOK = `https://${PLANTED}-user@127.0.0.1:9/services/${PLANTED}-path?${PLANTED}-query#${PLANTED}`;

const TELEMETRY = JSON.stringify({
  name: 'svc-observability',
  config: {
    enabled: true,
    exporter: 'memory',
    metrics_enabled: true,
    endpoint: ENDPOINT,
    headers: { 'x-tenant': `${PLANTED}-header`, authorization: `${PLANTED}-header` },
    alerts: [
      {
        name: 'failures',
        metric: 'svc.invocations.total',
        threshold: 0,
        operator: '>=',
        action: { type: 'webhook', url: WEBHOOK },
      },
    ],
  },
});

const FILE = `bridge_token: ${PLANTED}-token-of-more-than-thirty-two-bytes
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - ${TELEMETRY}
  - {name: svc-state, config: {adapter: {name: extstore, config: {extstore_url: "redis://u:${PLANTED}/@redis.example/0"}}}}
  - {name: svc-stream, config: {adapter: {name: extstore, config: {redis_url: "rediss://:${PLANTED}@redis.example"}}}}
  - {name: svc-queue, config: {adapter: {name: rabbitmq, config: {amqp_url: "amqp://u:${PLANTED}@rabbit.example/v"}}}}
  - name: shop
    path: ./shop
    env: {DATABASE: "postgres://u:${PLANTED}@db/x", SLACK_WEBHOOK: "${WEBHOOK}", API_KEY: ${PLANTED}, SIGNING_KEY: ${PLANTED}, PGPASS: ${PLANTED}, DSN: "host=h password=${PLANTED}"}
    config: {deep: [{place: "https://u:${PLANTED}@host/visible-place", webhook_url: "${WEBHOOK}"}]}
`;

test('svc config show prints no secret in any format', async () => {
  const folder = await makeFolder({ 'svc-config.yaml': FILE });
  try {
    const forms = [[], ['--json'], ['--sources'], ['--sources', '--json']];
    const shown = await Promise.all(forms.map((form) => runSvc(['config', 'show', ...form], { cwd: folder.path })));
    for (const [at, { code, stdout, stderr }] of shown.entries()) {
      expect([forms[at], code, stderr]).toEqual([forms[at], 0, '']);
      expect(stdout, String(forms[at])).not.toContain(PLANTED);
    }
    const [yaml = ''] = shown.map(({ stdout }) => stdout);
    for (const visible of [
      'https://[redacted]@collector.example:4318/v1?[redacted]',
      'https://[redacted]@127.0.0.1:9/[redacted]',
      'SIGNING_KEY',
      'visible-place',
    ]) {
      expect(yaml).toContain(visible);
    }
  } finally {
    await folder.remove();
  }
});

test('svc config check names an invalid field with a secret without quoting it', async () => {
  const long = `https://hooks.example/${PLANTED}/${'x'.repeat(9_000)}`;
  const alert = `{name: a, metric: m, threshold: 0, action: {type: webhook, url: "${long}"}}`;
  const broken = `endpoint: "https://u:${PLANTED}@host`;
  const files = {
    'long.yaml': `workers:\n  - {name: svc-observability, config: {alerts: [${alert}]}}\n`,
    'places.yaml': `outgoing:\n  allow: ["https://u:${PLANTED}@host"]\nworkers: []\n`,
    'pages.yaml': `workers:\n  - {name: svc-http, config: {cors: {allowed_origins: ["https://u:${PLANTED}@host"]}}}\n`,
    'proxies.yaml': `trusted_proxies: ["http://u:${PLANTED}@host"]\nworkers: []\n`,
    'broken.yaml': `workers:\n  - name: svc-observability\n    config:\n      ${broken}\n`,
  };
  const folder = await makeFolder(files);
  try {
    for (const file of Object.keys(files)) {
      const { code, stdout, stderr } = await runSvc(['config', 'check', '--config', file], { cwd: folder.path });
      expect(code, file).not.toBe(0);
      expect(stdout + stderr, file).toMatch(/: Must be|Missing closing/);
      expect(stdout + stderr, file).not.toContain(PLANTED);
    }
  } finally {
    await folder.remove();
  }
});

test('The console and the log of a failed webhook contain no secret', async () => {
  await using engine = await startConsoleEngine({ modules: [`  - ${TELEMETRY}`] });
  await using worker = await RawWorker.connect(engine.url);
  const { status, text } = await ask(engine, '/_console/v1/config');
  expect(status).toBe(200);
  expect(text).toContain('https://[redacted]@collector.example:4318/v1?[redacted]');
  expect(text).not.toContain(PLANTED);
  await worker.call('engine::alerts::evaluate', {});
  const failed = await waitFor('the webhook fails', () => engine.log.find((line) => line.includes('webhook')));
  expect(failed).toContain('https://[redacted]@127.0.0.1:9/[redacted]');
  for (const path of ['/_console/v1/status', '/_console/v1/alerts', '/metrics']) {
    expect((await ask(engine, path)).text, path).not.toContain(PLANTED);
  }
  expect(engine.log.join('\n')).not.toContain(PLANTED);
});

test('An invalid endpoint is named without its password', async () => {
  const endpoint = `ftp://u:${PLANTED}@collector.example`;
  const config = JSON.stringify({ enabled: true, exporter: 'otlp', endpoint });
  const yaml = `workers:\n  - {name: svc-worker-manager, config: {port: 0}}\n  - {name: svc-observability, config: ${config}}\n`;
  const start = startTestEngine({ yaml });
  await expect(start).rejects.toThrow('ftp://[redacted]@collector.example');
  await expect(start).rejects.not.toThrow(PLANTED);
});
