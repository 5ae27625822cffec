import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../../src/config/problem.ts';
import { load, placesOf, problemsOf } from './fixture-declarations.ts';

describe('problems of the top level', () => {
  test.each([
    ['prot: 1', "1:1 prot: Unknown key 'prot'."],
    ['strct: true', "1:1 strct: Unknown key 'strct'. Did you mean 'strict'?"],
    ['worker: []', "1:1 worker: Unknown key 'worker'. Did you mean 'workers'?"],
    ['port: 49134', "1:1 port: Unknown key 'port'. Known keys: workers, modules, threads, pool_threads, compat"],
    ['threads: 0', "1:10 threads: Must be an integer from 1 to 64 or 'auto', found the number 0."],
    ['threads: many', "1:10 threads: Must be an integer from 1 to 64 or 'auto', found the text 'many'."],
    ['compat: iij', "1:9 compat: Must be 'iii' or 'none', found the text 'iij'."],
    ['strict: yes', "1:9 strict: Must be true or false, found the text 'yes'."],
    ['bridge_token: short', '1:15 bridge_token: Must be text of at least 32 bytes, found text of 5 bytes.'],
    ['allowed_hosts: localhost', "1:16 allowed_hosts: Must be a list, found the text 'localhost'."],
    [
      'allowed_hosts: [a, 5]',
      '1:20 allowed_hosts[1]: Must be non-empty text, found the number 5. Put quotes around it.',
    ],
    ['drain_timeout_ms: -1', '1:19 drain_timeout_ms: Must be an integer from 0 to 3600000, found the number -1.'],
    ['log_payloads: 1', '1:15 log_payloads: Must be true or false, found the number 1.'],
    ['balance: newst', "1:10 balance: Must be 'least_in_flight' or 'newest' or 'reject_duplicates' or a map, found"],
    ['balance: {app: newst}', "1:16 balance.app: Must be 'least_in_flight' or 'newest' or 'reject_duplicates', found"],
    [
      'limits: {trusted: {frame_bytes: 10}}',
      '1:33 limits.trusted.frame_bytes: Must be an integer from 1024 to 268435456',
    ],
    ['limits: {engin: {}}', "1:10 limits.engin: Unknown key 'engin'. Did you mean 'engine'?"],
    ['workers: svc-stream', "1:10 workers: Must be a list, found the text 'svc-stream'."],
    ['[]', '1:1 : Must be a map, found a list.'],
    ['svc-stream', "1:1 : Must be a map, found the text 'svc-stream'."],
    ['__proto__: {strict: true}', "1:1 __proto__: Unknown key '__proto__'."],
  ])('[K4] "%s" is refused at its place', (text, start) => {
    const places = placesOf(text);
    expect(places).toHaveLength(1);
    expect(places[0]?.slice(0, start.length)).toBe(start);
  });

  test('[K4] two limits that contradict each other are refused together', () => {
    expect(placesOf('limits:\n  trusted:\n    outbound_buffer_bytes: 4096\n    outbound_close_bytes: 2048\n')).toEqual([
      '4:27 limits.trusted.outbound_close_bytes: Must be at least limits.trusted.outbound_buffer_bytes (4096), ' +
        'found the number 2048: a slow worker would be closed before it stops getting new calls.',
    ]);
  });

  test('[K4] a limit that contradicts a default not in the file is reported at the group it belongs to', () => {
    expect(placesOf('limits:\n  trusted:\n    outbound_buffer_bytes: 67108864\n')).toEqual([
      expect.stringMatching(/^2:3 limits\.trusted\.outbound_close_bytes: Must be at least .*\(67108864\)/),
    ]);
  });
});

describe('problems of modules', () => {
  const known = 'Known: svc-worker-manager, svc-stream, svc-queue.';

  test.each([
    ['- name: svc-strem', `2:9 workers[0].name: Unknown module 'svc-strem'. Did you mean 'svc-stream'? ${known}`],
    ['- class: StreamModul', `2:10 workers[0].class: Unknown module 'StreamModul'. ${known}`],
    [
      '- class: modules::stream::StreamModul',
      `2:10 workers[0].class: Unknown module 'modules::stream::StreamModul'. ` +
        `Did you mean 'modules::stream::StreamModule'? ${known}`,
    ],
    ['- name: Svc-Stream', `2:9 workers[0].name: Unknown module 'Svc-Stream'. Did you mean 'svc-stream'? ${known}`],
    ['- name: cron', '2:9 workers[0].name: svc-cron is not in this version yet.'],
    ['- class: modules::cron::CronModule', '2:10 workers[0].class: svc-cron is not in this version yet.'],
    ['- config: {}', "2:3 workers[0].name: Missing 'name' (or 'class') of the module."],
    ['- {}', "2:3 workers[0].name: Missing 'name' (or 'class') of the module."],
    ['- name: stream\n  class: stream', "3:3 workers[0].class: Give either 'name' or 'class', not both."],
    ['- name: 5', '2:9 workers[0].name: Must be non-empty text, found the number 5. Put quotes around it.'],
    ["- name: ''", "2:9 workers[0].name: Must be non-empty text, found the text ''."],
    ['- stream', "2:3 workers[0]: Must be a map, found the text 'stream'."],
    ['-', '2:2 workers[0]: Must be a map, found nothing.'],
    ['- name: stream\n  confg: {}', "3:3 workers[0].confg: Unknown key 'confg'. Did you mean 'config'?"],
    ['- name: stream\n  config: 5', '3:11 workers[0].config: Must be a map, found the number 5.'],
    ['- name: stream\n  config: {prot: 1}', "3:12 workers[0].config.prot: Unknown key 'prot'. Did you mean 'port'?"],
    [
      '- name: stream\n  config:\n    port: 70000',
      '4:11 workers[0].config.port: Must be an integer from 0 to 65535, found the number 70000.',
    ],
    [
      "- name: stream\n  config:\n    port: '3112'",
      "4:11 workers[0].config.port: Must be an integer from 0 to 65535, found the text '3112'. " +
        'Remove the quotes around it.',
    ],
    [
      '- name: queue\n  config: {queue_configs: {"a b": {type: fif}}}',
      "3:42 workers[0].config.queue_configs[\"a b\"].type: Must be 'standard' or 'fifo', found the text 'fif'.",
    ],
  ])('[K4] the entry "%s" is refused at its place', (entry, problem) => {
    expect(placesOf(`workers:\n${entry}\n`)).toEqual([problem]);
  });

  test('[K4] a module without adapters does not know the key adapter', () => {
    expect(placesOf('workers:\n- name: svc-worker-manager\n  config: {adapter: {name: kv}}')).toEqual([
      "3:12 workers[0].config.adapter: Unknown key 'adapter'. Known keys: port, host.",
    ]);
  });

  test.each([
    [
      'adapter: {name: kvv}',
      "4:21 workers[0].config.adapter.name: Unknown adapter of svc-stream 'kvv'. " +
        "Did you mean 'kv'? Known: kv, extstore, bridge.",
    ],
    [
      'adapter: {name: rabbitmq}',
      "4:21 workers[0].config.adapter.name: Unknown adapter of svc-stream 'rabbitmq'. Known: kv, extstore, bridge.",
    ],
    ['adapter: {}', "4:5 workers[0].config.adapter.name: Missing 'name' (or 'class') of the adapter."],
    [
      'adapter: {name: kv, class: kv}',
      "4:25 workers[0].config.adapter.class: Give either 'name' or 'class', not both.",
    ],
    ['adapter: kv', "4:14 workers[0].config.adapter: Must be a map, found the text 'kv'."],
    ['adapter:', '4:5 workers[0].config.adapter: Must be a map, found nothing.'],
    ['adaptor: {name: kv}', "4:5 workers[0].config.adaptor: Unknown key 'adaptor'. Did you mean 'adapter'?"],
    [
      'adapter: {name: kv, path: x}',
      "4:25 workers[0].config.adapter.path: Unknown key 'path'. Known keys: name, class, config.",
    ],
    [
      'adapter: {name: kv, config: {store_method: on_disk}}',
      '4:48 workers[0].config.adapter.config.store_method: ' +
        "Must be 'in_memory' or 'file_based', found the text 'on_disk'.",
    ],
    [
      'adapter: {name: kv, config: {file_pth: x}}',
      "4:34 workers[0].config.adapter.config.file_pth: Unknown key 'file_pth'. Did you mean 'file_path'?",
    ],
    [
      'adapter: {name: bridge}',
      "4:5 workers[0].config.adapter.config.bridge_url: Missing 'bridge_url': must be non-empty text.",
    ],
  ])('[K2] "%s" is refused, and no other adapter is used instead', (line, problem) => {
    expect(placesOf(`workers:\n- name: stream\n  config:\n    ${line}\n`)).toEqual([problem]);
  });

  test.each([
    ['svc-stream', 'stream'],
    ['stream', 'modules::stream::StreamModule'],
    ['svc-stream', 'svc-stream'],
  ])('[K4] a module listed as %s and again as %s is refused', (first, second) => {
    const message = 'svc-stream is already listed at workers[0], and can be listed only once.';
    expect(placesOf(`workers:\n  - name: ${first}\n  - name: ${second}\n`)).toEqual([
      `3:11 workers[1].name: ${message}`,
    ]);
    expect(placesOf(`modules:\n  - class: ${second}\nworkers:\n  - name: ${first}\n`)).toEqual([
      `2:12 modules[0].class: ${message}`,
    ]);
  });

  test.each([
    ['env: {A: b}', 'env'],
    ['image: ghcr.io/x/y:1', 'image'],
  ])('[K4] an entry that is not a built-in module ("%s") is refused once, at that key', (line, key) => {
    const problems = problemsOf(`workers:\n- name: my-worker\n  ${line}\n`);
    expect(problems.map(({ path, line: lineNumber, column }) => [path, lineNumber, column])).toEqual([
      [`workers[0].${key}`, 3, 3],
    ]);
    expect(problems[0]?.message).toMatch(
      /^(Only a worker with a 'path' has|This version does not run container images)/,
    );
  });

  test.each([
    ['name: my worker\n  path: ./w', 'workers[0].name', /^Must be 1 to 63 letters, digits/],
    ['name: stream\n  path: ./w', 'workers[0].name', /^'stream' is the name of a module of the engine/],
    ['name: w\n  path: ./w\n  image: x', 'workers[0].image', /does not run container images/],
    ['name: w\n  path: ./w\n  envv: {}', 'workers[0].envv', /Did you mean 'env'/],
  ])('[K4] a project worker has its own keys (%s)', (lines, path, message) => {
    const problems = problemsOf(`workers:\n- ${lines}\n`);
    expect(problems.map((problem) => problem.path)).toEqual([path]);
    expect(problems[0]?.message).toMatch(message);
  });

  test('[K4] of two project workers with one name, the second is refused', () => {
    const text = 'workers:\n  - {name: a, path: ./a}\n  - {name: a, path: ./b}\n';
    expect(problemsOf(text).map(({ path, line }) => [path, line])).toEqual([['workers[1].name', 3]]);
  });
});

describe('problems of placeholders', () => {
  test('[X21] an unset variable is reported once, where it is used', () => {
    expect(placesOf(`threads: \${THREADS}\nworkers:\n  - name: stream\n    config: \n      port: \${PORT}\n`)).toEqual([
      "1:10 threads: The environment variable 'THREADS' is not set and the placeholder has no default. " +
        `Set it, or write a default: \${THREADS:value}.`,
      "5:13 workers[0].config.port: The environment variable 'PORT' is not set and the placeholder has no default. " +
        `Set it, or write a default: \${PORT:value}.`,
    ]);
  });

  test('[X21] consequences of a missing variable are not reported as well', () => {
    const places = problemsOf(`workers: [{name: stream, config: {port: "a\${PORT}", prot: 1}}]`);
    expect(places.map(({ path }) => path)).toEqual(['workers[0].config.port', 'workers[0].config.prot']);
  });

  test('[K4] a value from the environment is checked like one in the file', () => {
    expect(placesOf(`threads: \${THREADS}`, { THREADS: 'many' })).toEqual([
      "1:10 threads: Must be an integer from 1 to 64 or 'auto', found the text 'many'.",
    ]);
    expect(placesOf(`threads: "\${THREADS}"`, { THREADS: '2' })).toEqual([
      "1:10 threads: Must be an integer from 1 to 64 or 'auto', found the text '2'. Remove the quotes around it.",
    ]);
  });
});

describe('many problems', () => {
  test('[K4] all problems are reported, in the order of the file', () => {
    const places = problemsOf(`
modules:
  - class: modules::stream::StreamModule
    config: {port: -1, adapter: {name: nope}}
threads: 0
workers:
  - name: nope
  - name: queue
    config:
      queue_configs: {a: {concurrency: 0}}
      adapter: {name: kv, config: {store_method: nope}}
strct: true
`).map(({ line, path }) => `${line} ${path}`);
    expect(places).toEqual([
      '4 modules[0].config.port',
      '4 modules[0].config.adapter.name',
      '5 threads',
      '7 workers[0].name',
      '10 workers[1].config.queue_configs.a.concurrency',
      '11 workers[1].config.adapter.config.store_method',
      '12 strct',
    ]);
  });

  test('[K1] loading the same broken file twice gives the same problems', () => {
    const text = 'threads: 0\nworkers: [{name: nope}]\n';
    expect(load(text)).toEqual(load(text));
  });
});

describe('secrets', () => {
  const secret = 'hunter2-hunter2-hunter2-hunter2-hunter2';

  test.each([
    `bridge_token: [${secret}]`,
    `bridge_token: {${secret}: 1}`,
    `bridge_tokn: ${secret}`,
    `bridge_token: ${secret}\nbridge_token: ${secret}`,
    `bridge_token: "${secret}`,
    `bridge_token: |${secret}`,
    `bridge_token: '${secret}'${secret}`,
    `bridge_token: &a ${secret}`,
    `bridge_token: !x ${secret}`,
    `bridge_token: *${secret}`,
    `bridge_token: ${secret}: ${secret}`,
    `bridge_token:\n  ${secret}\n  ${secret}: [`,
    `{bridge_token: ${secret}, threads: 0}`,
    `{bridge_token: "${secret}", threads: "0}`,
    `threads: {token: ${secret}}`,
    `threads: redis://u:${secret}@host`,
    `bridge_token: ${secret}\${UNSET}`,
    `threads: \${API_TOKEN}`,
    `threads: \${API_TOKEN:${secret}}`,
    `balance: {app: "\${API_TOKEN}"}`,
    `workers:\n- name: stream\n  config: {port: "x\${API_TOKEN}"}`,
    `workers:\n- name: x\${API_TOKEN}`,
    `workers:\n- name: stream\n  config: {adapter: {name: extstore, config: {password: [${secret}]}}}`,
    `workers: [{name: stream, config: {adapter: {name: redis, config: {extstore_url: "redis://u:${secret}@h", x: 1}}}}]`,
    `workers:\n- name: stream\n  config:\n    adapter:\n      config:\n        extstore_url: redis://u:${secret}@h: x`,
  ])('[X22] the secret of %j appears in no problem', (text) => {
    const env = { API_TOKEN: secret };
    const shown = problemsOf(text, env).map(formatProblem).join('\n');
    expect(shown).not.toBe('');
    expect(shown).not.toContain('hunter2');
  });
});
