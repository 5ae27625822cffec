// The published packages, outside the repository: their contents, that they run, and that their types are found.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InstalledPackages } from '../../support/engine/installed-packages.ts';
import {
  GREETER,
  PACKAGE_MODULES,
  REACT_PROGRAM,
  TYPED_PROGRAM,
  typeProblems,
} from '../../support/engine/package-programs.ts';
import { ANY_PORT, finished, waitForText } from '../cli/cli-process.ts';

let installed: InstalledPackages;
beforeAll(() => {
  installed = new InstalledPackages();
});
afterAll(() => installed[Symbol.dispose]());

test.each(['svc', 'svc-sdk', 'svc-browser-sdk', 'svc-console'])(
  '%s ships what it needs to run, a licence, a readme and no tests',
  (name) => {
    const files = installed.files(name);
    expect(files).toContain('README.md');
    expect(files).toContain('LICENSE');
    // Projects made by `svc create` contain tests of their own.
    const own = files.filter((file) => !file.startsWith('dist/engine/templates/'));
    expect(own.filter((file) => /\.(test|tsbuildinfo)|^(src|test)\/|^bench\/(?!\w+\.md$)/.test(file))).toEqual([]);
    expect(installed.manifest(name)).not.toHaveProperty('private');
  },
);

test('every page that a packed page links to is packed', () => {
  const lost = [...installed.tarballs.keys()].flatMap((name) => {
    const files = new Set(installed.files(name));
    const pages = [...files].filter((file) => file.endsWith('.md') && !file.startsWith('dist/'));
    return pages.flatMap((page) => {
      const text = readFileSync(join(installed.path, 'node_modules', name, page), 'utf8').replace(
        /^```[\s\S]*?^```$/gm,
        '',
      );
      const targets = [...text.matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
      const own = targets.filter((target) => !/^[a-z]+:/.test(target));
      return own.filter((target) => !files.has(join(dirname(page), target))).map((to) => `${name}: ${page} → ${to}`);
    });
  });
  expect(lost).toEqual([]);
});

/** A fifth of the largest is documentation. */
test('no package is larger than 1.5 MiB', () => {
  for (const bytes of installed.tarballs.values()) expect(bytes).toBeLessThan(1.5 * 1024 * 1024);
});

test('svc contains no Node of its own, and nothing that only the repository uses', () => {
  const manifest = installed.manifest('svc');
  for (const field of ['devDependencies', 'workspaces', 'scripts', 'overrides']) {
    expect(manifest).not.toHaveProperty(field);
  }
  const binaries = Object.keys(Object(manifest.optionalDependencies));
  expect(binaries).toEqual(['uWebSockets.js', 'uws-node-24', 'uws-node-26']);
});

test.each([
  ['svc-console', 'node_modules/.bin/svc-console', []],
  ['svc', 'node_modules/.bin/svc', ['console', '--json']],
])('the console that comes with %s serves its pages', async (_name, program, args) => {
  const server = run(program, [...args, '--port', '0']);
  server.stderr?.resume();
  try {
    const said = await waitForText(server.stdout, /http:\/\/127\.0\.0\.1:\d+\//);
    const page = await fetch(/http:\/\/127\.0\.0\.1:\d+\//.exec(said)?.[0] ?? '');
    expect(page.status).toBe(200);
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(await page.text()) ?? [];
    expect((await fetch(new URL(script, page.url))).headers.get('content-type')).toContain('javascript');
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
  }
});

test('the unit for systemd and the Containerfile start the installed program', async ({ skip }) => {
  const unit = readFileSync(new URL('../../../docs/operations/svc.service', import.meta.url), 'utf8');
  const image = readFileSync(new URL('../../../docs/operations/Containerfile', import.meta.url), 'utf8');
  const named = [...`${unit}\n${image}`.matchAll(/node_modules\/[\w./-]+\.js/g)].map(([file]) => file);
  expect(named.length).toBeGreaterThan(2);
  for (const file of named) expect(existsSync(join(installed.path, file)), file).toBe(true);
  const copied = [...image.matchAll(/packages\/(\S+?)\*?\.tgz/g)].map(([, name = '']) => name);
  expect(copied).toEqual(['svc-[0-9]', 'svc-console-']);
  // Node is installed elsewhere on many machines; everything else is unchanged.
  writeFileSync(join(installed.path, 'svc.service'), unit.replace('/usr/bin/node', '/bin/sh'));
  const verified = await finished(run('systemd-analyze', ['verify', join(installed.path, 'svc.service')])).catch(() =>
    skip('no systemd here'),
  );
  expect(verified).toMatchObject({ code: 0, stderr: '' });
});

test('svc depends on no package that its own files already contain, nor on a compiler', () => {
  const { dependencies } = installed.manifest('svc');
  expect(dependencies).toHaveProperty('lmdb');
  for (const name of ['typia', 'yaml']) expect(dependencies).not.toHaveProperty(name);
});

test('[SDK-10] OpenTelemetry is an optional peer of svc-sdk', () => {
  expect(installed.manifest('svc-sdk')).toMatchObject({
    peerDependencies: { '@opentelemetry/api': '^1.9.0' },
    peerDependenciesMeta: { '@opentelemetry/api': { optional: true } },
  });
});

test('npx svc runs there', async () => {
  const { code, stdout, stderr } = await finished(run('npx', ['--no-install', 'svc', '--version']));
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: expect.stringMatching(/\d+\.\d+\.\d+/) });
});

test('[CLI-9] the command that a failure suggests works as pasted', async () => {
  const args = ['--no-install', 'svc', 'functions', 'list', '--url', 'ws://127.0.0.1:9'];
  const { code, stderr } = await finished(run('npx', args));
  expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringContaining('Start it with: npx svc --config') });
});

test('svc create names the installed packages: the registry has another package named svc', async () => {
  const args = [SVC, 'create', 'made', '--template', 'realtime-chat', '--no-git'];
  const { code, stderr } = await finished(run(process.execPath, args));
  expect(code, stderr).toBe(0);
  const manifest: unknown = JSON.parse(readFileSync(join(installed.path, 'made/package.json'), 'utf8'));
  const installedAt = (name: string) => `file:${join(realpathSync(installed.path), 'node_modules', name)}`;
  expect(manifest).toMatchObject({
    dependencies: Object.fromEntries(['svc', 'svc-sdk', 'svc-browser-sdk'].map((name) => [name, installedAt(name)])),
  });
});

test('an engine of the installed package is called through a worker on the installed SDK', async () => {
  // Every module that runs without another server: each loads its dependencies.
  writeFileSync(join(installed.path, 'svc-config.yaml'), `${ANY_PORT}${PACKAGE_MODULES}`);
  const engine = run(process.execPath, [SVC, 'start', '--json', '--threads', '1']);
  engine.stderr?.resume();
  try {
    const { listeners } = JSON.parse(await waitForText(engine.stdout, /\n/));
    writeFileSync(join(installed.path, 'worker.js'), GREETER);
    const { stdout, stderr } = await finished(run(process.execPath, ['worker.js', listeners[0].address]));
    expect(stdout, stderr).toBe('{"text":"Hello, Ada!"}\n');
  } finally {
    engine.kill('SIGTERM');
    await once(engine, 'exit');
  }
  expect(engine.exitCode).toBe(0);
});

test('[SDK-11] a test has an engine inside its own process, with only svc-sdk installed', async () => {
  writeFileSync(join(installed.path, 'fake.js'), FAKE);
  const { stdout, stderr } = await finished(run(process.execPath, ['fake.js']));
  expect(stdout, stderr).toBe('2 attempts\n');
});

test('[SDK-9] svc-sdk/logging is a separate entry point', async () => {
  const program = "console.log(Object.keys(await import('svc-sdk/logging')).join(' '))";
  const { stdout, stderr } = await finished(run(process.execPath, ['--input-type=module', '-e', program]));
  expect(stdout, stderr).toBe('WinstonTransport bridgeConsole pinoStream\n');
});

test('[SDK-15] a CommonJS program gets svc-sdk through require', async () => {
  const { stdout, stderr } = await finished(
    run(process.execPath, ['--input-type=commonjs', '-e', "console.log(typeof require('svc-sdk').registerWorker)"]),
  );
  expect(stdout, stderr).toBe('function\n');
});

describe('[SDK-15] a strict TypeScript program without @types/node compiles against the installed packages', () => {
  test.each([
    ['NodeNext', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
    ['Bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
  ])(
    'under moduleResolution %s',
    (_name, module, moduleResolution) => {
      const file = join(installed.path, 'program.ts');
      writeFileSync(file, TYPED_PROGRAM);
      expect(typeProblems(installed.path, file, { module, moduleResolution })).toBe('');
    },
    60_000,
  );
});

describe('[SDK-14] a strict program with hooks compiles with React, and no other program needs React', () => {
  // The program above compiles without React; here React is installed too, as in the folder of a page.
  beforeAll(() => {
    const modules = join(installed.path, 'node_modules');
    mkdirSync(join(modules, '@types'), { recursive: true });
    for (const name of ['react', '@types/react']) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  });

  test.each([
    ['NodeNext', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
    ['Bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
  ])(
    'under moduleResolution %s',
    (_name, module, moduleResolution) => {
      const file = join(installed.path, 'page.ts');
      writeFileSync(file, REACT_PROGRAM);
      expect(typeProblems(installed.path, file, { module, moduleResolution })).toBe('');
    },
    60_000,
  );

  test('the hooks are there', async () => {
    const program = "console.log(Object.keys(await import('svc-browser-sdk/react')).join(' '))";
    const { stdout, stderr } = await finished(run(process.execPath, ['--input-type=module', '-e', program]));
    expect(stdout, stderr).toBe('SvcProvider useConnection useFunction useStateValue useStream useSvc\n');
    expect(installed.manifest('svc-browser-sdk')).toMatchObject({
      peerDependenciesMeta: { react: { optional: true } },
    });
  });
});

const SVC = 'node_modules/svc/bin/svc.js';
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const FAKE = `
import { createFake } from 'svc-sdk/testing';
const fake = await createFake({ queues: { mail: { backoff_ms: 60000 } } });
const svc = fake.registerWorker();
let attempts = 0;
svc.registerFunction('mail::send', () => {
  if (++attempts === 1) throw new Error('not yet');
});
await svc.queue('mail').enqueue('mail::send', {});
await fake.advance(60000);
console.log(attempts + ' attempts');
await fake.stop();
`;

function run(command: string, args: readonly string[]) {
  const { SVC_URL: _url, NODE_OPTIONS: _options, NODE_PATH: _path, ...env } = process.env;
  return spawn(command, args, { cwd: installed.path, env, stdio: 'pipe' });
}
