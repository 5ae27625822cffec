// The published packages as users get them: packed, then installed by npm itself, with their dependencies, in an empty
// folder outside the repository. `packages.test.ts` checks their contents; this test checks that npm can install them.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { GREETER, PACKAGE_MODULES, TYPED_PROGRAM, typeProblems } from '../../support/engine/package-programs.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { ANY_PORT, type Finished, finished, waitForText } from '../cli/cli-process.ts';

const PACK = fileURLToPath(new URL('../../../bin/pack.js', import.meta.url));
/** npm fetches a hundred packages, two of them with binaries. */
const INSTALL_MS_MAX = 600_000;
const PATIENCE_MS = 60_000;
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH/;

let temporary: TemporaryFolder;
let folder: string;
let isOffline = false;

beforeAll(async () => {
  temporary = new TemporaryFolder();
  folder = join(temporary.path, 'app');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const tarballs = join(temporary.path, 'tarballs');
  expect(await finished(run(process.execPath, PACK, tarballs))).toMatchObject({ code: 0 });
  const files = readdirSync(tarballs).map((name) => join(tarballs, name));
  expect(files).toHaveLength(4);
  const installed = await finished(run('npm', 'install', '--no-audit', '--no-fund', ...files));
  isOffline = installed.code !== 0 && UNREACHABLE.test(installed.stderr) && process.env.CI === undefined;
  if (!isOffline) succeeded(installed);
}, INSTALL_MS_MAX);

beforeEach(({ skip }) => skip(isOffline, 'npm cannot reach its registry'));

afterAll(() => temporary[Symbol.dispose]());

test('npm has installed everything, and nothing is missing', { timeout: PATIENCE_MS }, async () => {
  succeeded(await finished(run('npm', 'ls', '--all')));
});

test('npx svc --version prints the version', { timeout: PATIENCE_MS }, async () => {
  const { stdout } = succeeded(await finished(run('npx', '--no-install', 'svc', '--version')));
  expect(stdout).toMatch(/\d+\.\d+\.\d+/);
});

test(
  'npx svc starts an engine with every module, and a worker is called through it',
  async () => {
    writeFileSync(join(folder, 'svc-config.yaml'), `${ANY_PORT}${PACKAGE_MODULES}`);
    writeFileSync(join(folder, 'worker.js'), GREETER);
    const engine = run(process.execPath, 'node_modules/svc/bin/svc.js', 'start', '--json', '--threads', '1');
    engine.stderr.resume();
    try {
      const { listeners } = JSON.parse(await waitForText(engine.stdout, /\n/));
      const { stdout } = succeeded(await finished(run(process.execPath, 'worker.js', listeners[0].address)));
      expect(stdout).toBe('{"text":"Hello, Ada!"}\n');
    } finally {
      engine.kill('SIGTERM');
      await once(engine, 'exit');
    }
    expect(engine.exitCode).toBe(0);
  },
  PATIENCE_MS,
);

test.each([
  ['NodeNext', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
  ['Bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
])(
  '[SDK-15] types are found under moduleResolution %s',
  { timeout: PATIENCE_MS },
  (_name, module, moduleResolution) => {
    const file = join(folder, 'program.ts');
    writeFileSync(file, TYPED_PROGRAM);
    expect(typeProblems(folder, file, { module, moduleResolution })).toBe('');
  },
);

/** As from a new shell: without the environment of the npm that runs the tests. */
function run(command: string, ...args: string[]) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('npm_') && !['SVC_URL', 'SVC_TOKEN', 'NODE_OPTIONS', 'NODE_PATH'].includes(name),
  );
  return spawn(command, args, { cwd: folder, env: Object.fromEntries(inherited), stdio: 'pipe' });
}

function succeeded(end: Finished): Finished {
  expect(end.code, `${end.stdout}\n${end.stderr}`).toBe(0);
  return end;
}
