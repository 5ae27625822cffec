import { describe, expect, expectTypeOf, test } from 'vitest';
import { modulesOf } from '../../../src/config/load.ts';
import { formatPath } from '../../../src/config/problem.ts';
import { loaded, queue, stream, workerManager } from './fixture-declarations.ts';

const CLASS_STYLE = `
modules:
  - class: modules::stream::StreamModule
    config:
      port: \${STREAM_PORT:3112}
      adapter:
        class: modules::stream::adapters::KvStore
        config:
          store_method: in_memory
          file_path: ./data/streams
`;

const NAME_STYLE = `
workers:
  - name: svc-stream
    config:
      port: \${STREAM_PORT:3112}
      adapter:
        name: kv
        config:
          store_method: in_memory
          file_path: ./data/streams
`;

describe('the two styles', () => {
  test('[K4] a module is the same by class and by name', () => {
    const [byClass] = loaded(CLASS_STYLE).modules;
    const [byName] = loaded(NAME_STYLE).modules;
    expect(byClass).toEqual({ ...byName, path: ['modules', 0] });
    expect(byName).toMatchObject({
      declaration: stream,
      name: 'svc-stream',
      config: { port: 3112, host: '0.0.0.0', auth_function: undefined, allowed_origins: [] },
      adapter: { name: 'kv', config: { store_method: 'in_memory', file_path: './data/streams' } },
      path: ['workers', 0],
    });
    expect(byName?.config).not.toHaveProperty('adapter');
  });

  test('[K4] both lists may be present, and both are loaded', () => {
    const { modules } = loaded(`${CLASS_STYLE}workers:\n  - name: svc-queue\n`);
    expect(modules.map(({ name, path }) => `${formatPath(path)} ${name}`)).toEqual([
      'workers[0] svc-queue',
      'modules[0] svc-stream',
    ]);
  });

  test.each(['svc-stream', 'stream', 'modules::stream::StreamModule'])(
    '[K4] %s is accepted without a warning, as a name and as a class',
    (spelling) => {
      for (const list of ['workers', 'modules']) {
        for (const key of ['name', 'class']) {
          const config = loaded(`${list}:\n  - ${key}: ${spelling}\n`);
          expect(config.modules.map(({ name }) => name)).toEqual(['svc-stream']);
          expect(config.warnings).toEqual([]);
        }
      }
    },
  );

  test('[K4] both styles are accepted in flow form', () => {
    const { modules } = loaded(`
modules:
  - class: modules::stream::StreamModule
    config:
      port: \${STREAM_PORT:3112}
      adapter: {class: modules::stream::adapters::KvStore, config: {store_method: file_based, file_path: ./data}}
workers:
  - name: svc-queue
    config:
      queue_configs: {emails: {concurrency: 4, type: fifo}}
      adapter: {name: kv, config: {store_method: file_based, file_path: ./data/queues}}
`);
    expect(modules.map(({ config }) => config)).toMatchObject([
      { queue_configs: { emails: { concurrency: 4, type: 'fifo' } } },
      { port: 3112 },
    ]);
  });

  test('[K4] a configuration written as JSON is accepted', () => {
    const config = loaded('{"threads": 2, "workers": [{"name": "svc-worker-manager", "config": {"port": 0}}]}');
    expect(config.settings.threads).toBe(2);
    expect(config.modules).toMatchObject([{ config: { port: 0, host: '127.0.0.1' } }]);
  });
});

describe('modules', () => {
  test('[X1] a module without config gets its defaults', () => {
    for (const tail of ['', '    config:\n', '    config: {}\n']) {
      expect(loaded(`workers:\n  - name: svc-worker-manager\n${tail}`).modules).toEqual([
        {
          declaration: workerManager,
          name: 'svc-worker-manager',
          config: { port: 49_134, host: '127.0.0.1' },
          path: ['workers', 0],
        },
      ]);
    }
  });

  test('[K2] a module without an adapter entry gets the first adapter declared, with its defaults', () => {
    expect(loaded('workers:\n  - name: svc-stream\n').modules[0]?.adapter).toMatchObject({
      name: 'kv',
      config: { store_method: 'file_based', file_path: './data' },
    });
  });

  test.each([
    ['name: extstore', 'extstore'],
    ['name: redis', 'extstore'],
    ['class: modules::stream::adapters::ExtStoreAdapter', 'extstore'],
    ['class: kv', 'kv'],
  ])('[K2] the adapter written as "%s" is the one that is loaded', (line, name) => {
    const text = `workers:\n  - name: svc-stream\n    config:\n      adapter:\n        ${line}\n`;
    expect(loaded(text).modules[0]?.adapter?.name).toBe(name);
  });

  test('[X1] only the worker manager may be listed several times, with one listener for each entry', () => {
    const config = loaded(`
workers:
  - name: svc-worker-manager
  - name: worker-manager
    config: {port: 49135}
modules:
  - class: modules::worker::WorkerModule
    config: {port: 49136}
`);
    const managers = modulesOf(config, workerManager);
    expect(managers.map(({ config: { port } }) => port)).toEqual([49_134, 49_135, 49_136]);
    expectTypeOf(managers[0]?.config.port).toEqualTypeOf<number | undefined>();
    expect(modulesOf(config, queue)).toEqual([]);
  });
});

describe('the top level', () => {
  test.each(['', '# nothing here\n', 'workers: []\n', 'workers:\nmodules:\n', '---\n', 'limits: {}\n'])(
    '[K4] %j gives a configuration of defaults',
    (text) => {
      const { settings, modules, warnings } = loaded(text);
      expect(settings).toMatchObject({ threads: 'auto', strict: false, drain_timeout_ms: 25_000 });
      expect(settings).not.toHaveProperty('workers');
      expect([modules, warnings]).toEqual([[], []]);
    },
  );

  test('[K4] a word such as yes or no is text, with a warning unless it is in quotes', () => {
    expect(loaded("allowed_hosts: [no, 'no', NO-1]\n").warnings).toEqual([
      "svc-config.yaml:1:17: allowed_hosts[0]: 'no' is text here, and a flag to older YAML. " +
        'Write true or false, or put it in quotes.',
    ]);
  });

  test('[X19] keys such as __proto__ and constructor are plain data', () => {
    const { settings, modules } = loaded(`
balance: {__proto__: newest, constructor: newest, toString: newest}
workers:
  - name: svc-queue
    config: {queue_configs: {__proto__: {concurrency: 2}, prototype: {concurrency: 3}}}
`);
    expect(Object.entries(settings.balance)).toEqual([
      ['__proto__', 'newest'],
      ['constructor', 'newest'],
      ['toString', 'newest'],
    ]);
    const [loadedQueue] = modules.filter(({ declaration }) => declaration === queue);
    expect(JSON.stringify(loadedQueue?.config)).toBe(
      '{"queue_configs":{"__proto__":{"type":"standard","concurrency":2},' +
        '"prototype":{"type":"standard","concurrency":3}}}',
    );
    expect('concurrency' in {}).toBe(false);
  });
});

describe('the environment', () => {
  test('[X21] placeholders become numbers, flags, text or null, as if they were written out', () => {
    const config = loaded(
      `
threads: \${THREADS}
strict: \${STRICT:true}
bridge_token: \${BRIDGE_TOKEN:}
allowed_hosts: ['\${HOST}', "\${HOST}.internal"]
workers:
  - name: \${MODULE:svc-stream}
    config:
      port: \${PORT:3112}
      auth_function: app::\${AUTH:auth}
      adapter:
        name: extstore
        config:
          extstore_url: \${URL:redis://localhost:6379/0}
`,
      { THREADS: '3', HOST: '10', PORT: '4000' },
    );
    expect(config.settings).toMatchObject({ threads: 3, strict: true, bridge_token: undefined });
    expect(config.settings.allowed_hosts).toEqual(['10', '10.internal']);
    expect(config.modules[0]).toMatchObject({
      config: { port: 4000, auth_function: 'app::auth' },
      adapter: { config: { extstore_url: 'redis://localhost:6379/0' } },
    });
  });

  test('[X21] a variable cannot add structure to the file', () => {
    const attack = 'x\nstrict: true\nworkers: [{name: svc-queue}] # {a: b}';
    const { settings, modules } = loaded(`allowed_hosts:\n  - \${HOST}\n`, { HOST: attack });
    expect(settings.allowed_hosts).toEqual([attack]);
    expect(settings.strict).toBe(false);
    expect(modules).toEqual([]);
  });
});
