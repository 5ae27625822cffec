import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { effectiveConfig } from '../../../src/config/describe.ts';
import { loaded } from './fixture-declarations.ts';

const TEXT = `
threads: 3
balance: {mail: newest}
modules:
  - class: modules::stream::StreamModule
    config:
      auth_function: app::auth
      adapter: {class: redis, config: {extstore_url: "redis://user:hunter2@host:6379/0?password=hunter2"}}
workers:
  - name: worker-manager
  - name: queue
    config: {queue_configs: {token_refresh: {type: fifo}, __proto__: {concurrency: 3}}}
`;

describe('the configuration in effect', () => {
  test('[K4] every default is filled in, and all modules are listed under workers by name', () => {
    const shown = effectiveConfig(loaded(TEXT));
    expect(shown).toMatchObject({
      threads: 3,
      strict: false,
      allowed_hosts: [],
      drain_timeout_ms: 25_000,
      balance: { mail: 'newest' },
      limits: { engine: { in_flight: 65_536 } },
    });
    expect(JSON.parse(JSON.stringify(shown.workers))).toEqual([
      { name: 'svc-worker-manager', config: { port: 49_134, host: '127.0.0.1' } },
      {
        name: 'svc-queue',
        config: {
          queue_configs: JSON.parse(
            '{"token_refresh":{"type":"fifo","concurrency":10},"__proto__":{"type":"standard","concurrency":3}}',
          ),
          adapter: { name: 'kv', config: { store_method: 'file_based', file_path: './data' } },
        },
      },
      {
        name: 'svc-stream',
        config: {
          port: 3112,
          host: '0.0.0.0',
          auth_function: 'app::auth',
          allowed_origins: [],
          adapter: { name: 'extstore', config: { extstore_url: 'redis://[redacted]@host:6379/0?[redacted]' } },
        },
      },
    ]);
  });

  test('[X22] it holds no secret, from the file or from the environment', () => {
    const secret = 'hunter2-hunter2-hunter2-hunter2-hunter2';
    const config = loaded(
      `bridge_token: \${TOKEN}
workers:
  - name: stream
    config: {adapter: {name: extstore, config: {password: ${secret}, extstore_url: "${'redis://u:'}${secret}@h"}}}
`,
      { TOKEN: secret },
    );
    expect(config.settings.bridge_token).toBe(secret);
    const shown = stringify(effectiveConfig(config));
    expect(shown).not.toContain('hunter2');
    expect(shown).toContain('bridge_token: "[redacted]"');
  });

  test.each([
    '',
    TEXT.replaceAll(/(user:hunter2@|\?password=hunter2)/g, ''),
    'compat: iii\nstrict: true\nthreads: 1\n',
  ])('[K4] it loads again as the same configuration, printed as YAML or as JSON', (text) => {
    const config = loaded(text);
    const shown = effectiveConfig(config);
    for (const printed of [stringify(shown), JSON.stringify(shown)]) {
      const again = loaded(printed);
      expect(again.settings).toEqual(config.settings);
      expect(effectiveConfig(again)).toEqual(shown);
    }
    expect(parse(stringify(shown))).toBeTypeOf('object');
  });

  test('[K4] omitted values are not shown', () => {
    const shown = effectiveConfig(loaded('workers: [{name: stream}]'));
    expect(Object.keys(shown)).not.toContain('compat');
    expect(Object.keys(shown)).not.toContain('bridge_token');
    expect(JSON.stringify(shown)).not.toContain('auth_function');
  });
});
