// [CLI-7] Every example of `--help`, run as pasted, in a project's folder with a running engine that has all modules.
//
// An example may name a job or a trace that this engine does not have; then the exit code is one that the same help
// lists. A command that keeps running is interrupted after its first output.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CATALOGUE } from '../../../src/cli/catalogue.ts';
import { ProjectEngine, pidWorker } from '../../support/engine/project-engine.ts';
import { finished, makeFolder, SVC, waitForOutput } from './cli-process.ts';

const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';
const CONFIG = `workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-http, config: {port: 0}}
  - {name: svc-state, config: {adapter: {name: kv, config: {file_path: ./data}}}}
  - {name: svc-stream, config: {host: 127.0.0.1, port: 0, ${IN_MEMORY}}}
  - name: svc-queue
    config: {queue_configs: {mail: {max_retries: 0}}, adapter: {name: builtin, config: {store_method: in_memory}}}
  - {name: svc-pubsub}
  - {name: svc-cron, config: {${IN_MEMORY}}}
`;
const OFFERED = `
for (const id of ['orders::create', 'orders::list', 'mail::send']) svc.registerFunction(id, (payload) => payload);
const page = svc.registerFunction('orders::page', () => ({ status_code: 200, body: {} }));
svc.registerTrigger({ type: 'http', function_id: page, config: { api_path: '/users/:id', http_method: 'GET' } });
svc.registerTrigger({ type: 'http', function_id: page, config: { api_path: '/orders', http_method: 'POST' } });
`;
const JSON_FILES = ['ann', 'mail', 'a', 'user', 'message'];

const examples = (
  await Promise.all(
    CATALOGUE.entries
      .filter(({ aliasOf }) => aliasOf === undefined)
      .map(async (entry) => {
        const command = await entry.load();
        return command.examples.map(({ line }) => ({ line, command }));
      }),
  )
).flat();
/** Examples that stop or remove something run last, because other examples need it. */
const isLast = (line: string): boolean => /^svc (worker (stop|remove)|queue pause|restore)/.test(line);
/** Opens an editor; `cli.test.ts` covers it. */
const needsEditor = (line: string): boolean => line.endsWith('--edit');
const runnable = examples.filter(({ line }) => !needsEditor(line));
const inOrder = [...runnable.filter(({ line }) => !isLast(line)), ...runnable.filter(({ line }) => isLast(line))];

let engine: ProjectEngine;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const { path, remove } = await makeFolder({
    'svc-config.yaml': CONFIG,
    'staging.yaml': CONFIG.replace('./data', './staging-data'),
    '.env': 'LEVEL=debug\n',
    '.token': 'a-token',
    'ops.json': '[{"type":"increment","path":"visits","by":1}]',
    'state.jsonl': '{"scope":"users","key":"bob","value":{}}\n',
    ...Object.fromEntries(JSON_FILES.map((name) => [`${name}.json`, '{"name":"Ann"}'])),
    ...pidWorker('here'),
  });
  for (const [name, files] of [
    ['workers/orders', pidWorker('orders', OFFERED)],
    ['bin', { svc: `#!/bin/sh\nexec '${process.execPath}' '${SVC}' "$@"\n` }],
    ['backups', {}],
  ] as const) {
    await mkdir(join(path, name), { recursive: true });
    for (const [file, text] of Object.entries(files)) await writeFile(join(path, name, file), text);
  }
  await chmod(join(path, 'bin/svc'), 0o755);
  engine = await ProjectEngine.startIn(path, {}, remove);
  const addresses = engine.listeners;
  env = {
    PATH: `${join(path, 'bin')}:${process.env.PATH}`,
    HOME: path,
    EDITOR: 'true',
    SVC_URL: engine.url,
    SVC_HTTP_URL: addresses.find((address) => address.startsWith('http')),
    SVC_STREAM_URL: addresses.filter((address) => address.startsWith('ws')).at(-1),
  };
  for (const arguments_ of ['set users ann {"visits":1}', 'set users bob {}', 'set settings live 1']) {
    expect(await engine.svc('state', ...arguments_.split(' '))).toMatchObject({ code: 0 });
  }
});
afterAll(() => engine?.[Symbol.asyncDispose]());

/** Paths lead into this folder, and durations of ten seconds become one. */
function here(line: string): string {
  return (
    line
      .replaceAll('/backups', `${engine.folder}/backups`)
      .replace('../copy', `${engine.folder}/copy`)
      .replace('ws://staging:49134', engine.url)
      // An engine of another test may listen there.
      .replace('ws://127.0.0.1:49134', engine.url)
      .replace('--interval 10s', '--interval 1s')
      .replace(/^svc bench (\S+)/, '$& --duration 200ms --warmup 0s')
      .replace(/^svc (worker|context) remove \S+/, (words) => `${words} --yes`)
  );
}

const goesOn = (line: string): boolean =>
  / (--watch|watch|tail|-f)\b|^svc (start|dev|console|worker dev|top|--config)\b/.test(line) &&
  !/--(check|once)/.test(line);

test.each(inOrder)('$line', { timeout: 60_000 }, async ({ line, command }) => {
  const words = goesOn(line) ? `exec ${here(line)} -v` : here(line);
  const child = spawn('/bin/sh', ['-c', words], { cwd: engine.folder, env, detached: true, stdio: 'pipe' });
  child.stdin.end();
  const end = finished(child);
  if (goesOn(line) && child.pid !== undefined) {
    const { pid } = child;
    await Promise.race([waitForOutput(child, /./), once(child, 'exit')]);
    // It may have ended already, because its port is in use.
    if (child.exitCode === null) process.kill(-pid, 'SIGINT');
  }
  const { code, stdout, stderr } = await end;
  const said = `${words}\n${stdout}\n${stderr}`;
  expect([0, ...(command.monitors ? [1, 2] : []), ...(command.exitCodes ?? [])], said).toContain(code);
  expect(stderr, said).not.toMatch(/Unexpected|defect of svc|unsettled/);
});
