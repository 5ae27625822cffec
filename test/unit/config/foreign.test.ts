// Files of `iii` as lists of changes: what is not shown by whole files in test/e2e/iii/foreign-configs.test.ts.

import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { applyEdits } from '../../../src/config/foreign/edits.ts';
import { moduleNameOf } from '../../../src/config/foreign/names.ts';
import { rewrite } from '../../../src/config/foreign/rewrite.ts';
import { translateForeign } from '../../../src/config/foreign/translate.ts';

const isOwnName = (word: string): boolean => word.startsWith('svc-');

function translated(yaml: string): { value: unknown; text: string; notes: string[] } {
  const root = parse(yaml);
  const edits = translateForeign(root, root, isOwnName);
  const notes = edits.flatMap(({ note }) => (note === '' ? [] : [note]));
  return { value: applyEdits(root, edits), text: rewrite(yaml, edits), notes };
}

/** What is applied to the value, and what is written into the file, are the same. */
function expectEqual(yaml: string, expected: object): void {
  const { value, text } = translated(yaml);
  const seen = JSON.parse(JSON.stringify(value));
  for (const list of ['workers', 'modules']) {
    if (Array.isArray(seen[list])) seen[list] = seen[list].filter((entry: unknown) => entry !== null);
  }
  expect(seen).toEqual(expected);
  expect(parse(text)).toEqual(expected);
}

test('[K1] a file that names nothing of iii is not changed', () => {
  const yaml = 'workers:\n  - {name: svc-http, config: {port: 1}}\n';
  expect(translated(yaml)).toMatchObject({ notes: [], value: { workers: [{ name: 'svc-http' }] } });
});

test('[K1] modules for logs and traces become settings of one entry, wherever that entry is', () => {
  expectEqual(
    [
      'modules:',
      '  - class: modules::observability::LoggingModule',
      '    config: {level: debug, format: json}',
      '  - class: modules::observability::OtelModule',
      '    config: {level: warn, exporter: memory}',
      '  - class: modules::observability::TracingModule',
      '',
    ].join('\n'),
    {
      compat: 'iii',
      modules: [{ name: 'svc-observability', config: { level: 'warn', exporter: 'memory', format: 'json' } }],
    },
  );
});

test('[K1] two whole entries of one module are left to the check of the file', () => {
  const yaml = 'workers:\n  - {name: iii-observability, config: {level: info}}\n  - {name: iii-observability}\n';
  const { workers } = Object(translated(yaml).value);
  expect(workers).toHaveLength(2);
  expect(workers).toEqual([expect.objectContaining({ name: 'svc-observability' }), { name: 'svc-observability' }]);
});

test('[K1] a top-level port becomes a port for workers, unless there is one already', () => {
  expectEqual('port: 7\nworkers:\n  - {name: iii-http}\n', {
    compat: 'iii',
    workers: [{ name: 'svc-http' }, { name: 'svc-worker-manager', config: { port: 7 } }],
  });
  expectEqual('port: 7\nworkers:\n  - {name: iii-worker-manager, config: {port: 8}}\n', {
    compat: 'iii',
    workers: [{ name: 'svc-worker-manager', config: { port: 8 } }],
  });
});

test('[K1] several programs get names of their own', () => {
  const entry = (command: string) => `  - {name: iii-exec, config: {exec: [prepare, ${command}]}}\n`;
  expectEqual(`workers:\n${entry('one')}${entry('two')}`, {
    compat: 'iii',
    workers: [
      { name: 'exec', path: '.', scripts: { start: 'prepare && one' } },
      { name: 'exec-2', path: '.', scripts: { start: 'prepare && two' } },
    ],
  });
});

test.each([
  ['{url_allowlist: ["*"], block_private_ips: true, require_https: true}', undefined],
  ['{url_allowlist: ["https://a.example/*", "b.example"], require_https: false}', ['a.example', 'b.example']],
  ['{block_private_ips: false}', expect.arrayContaining(['127.0.0.0/8', '10.0.0.0/8', 'fc00::/7'])],
])('[X16] security %s becomes outgoing.allow', (security, allow) => {
  const { value } = translated(`workers:\n  - {name: iii-http-functions, config: {security: ${security}}}\n`);
  expect(Object(value).outgoing?.allow).toEqual(allow);
});

test('[K1] compat: none keeps the names translated and the waits as they are', () => {
  const queue = 'queue_configs: {a: {type: fifo, message_group_field: g, max_retries: 9, backoff_ms: 600000}}';
  const entry = `  - {name: iii-queue, config: {${queue}, adapter: {name: rabbitmq}}}\n`;
  const limited = Object(translated(`workers:\n${entry}`).value);
  expect(limited.workers[0].config.queue_configs.a.backoff_max_ms).toBe(133_333);
  const { compat, workers } = Object(translated(`compat: none\nworkers:\n${entry}`).value);
  expect([compat, workers[0].name]).toEqual(['none', 'svc-queue']);
  expect(workers[0].config.queue_configs.a).not.toHaveProperty('backoff_max_ms');
});

test.each([
  ['iii-http', 'svc-http'],
  ['iii-worker-manager#rbac', 'svc-worker-manager'],
  ['modules::api::RestApiModule', 'svc-http'],
  ['modules::streams::StreamModule', 'svc-stream'],
  ['modules::shell::ExecModule', 'svc-exec'],
  ['modules::unknown::Thing', undefined],
  ['svc-http', undefined],
])('[K1] the module %s is %s here', (word, name) => {
  expect(moduleNameOf(word)).toBe(name);
});
