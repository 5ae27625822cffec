// The packages of this repository as a user installs them: packed as for publishing and unpacked into an empty folder
// outside the repository, without the network. Their dependencies are links into this checkout, and only declared ones
// exist: an undeclared import fails, as it would for a user.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../../../src/cli/text/records.ts';
import { TemporaryFolder } from './temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export class InstalledPackages implements Disposable {
  readonly #folder = new TemporaryFolder();
  /** Bytes of each .tgz. */
  readonly tarballs = new Map<string, number>();

  constructor() {
    const tarballs = join(this.path, 'tarballs');
    execFileSync(process.execPath, [join(ROOT, 'bin/pack.js'), tarballs], { stdio: ['ignore', 'ignore', 'pipe'] });
    mkdirSync(join(this.path, 'node_modules/.bin'), { recursive: true });
    writeFileSync(join(this.path, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    for (const file of readdirSync(tarballs)) this.#unpack(join(tarballs, file));
    // After the links: packages of this repository come from their own tarballs.
    for (const name of [...this.tarballs.keys()]) this.#linkDependenciesOf(name);
  }

  get path(): string {
    return this.#folder.path;
  }

  manifest(name: string): Record<string, unknown> {
    return readManifest(join(this.path, 'node_modules', name));
  }

  /** Paths in the package, relative to its folder. */
  files(name: string): string[] {
    const folder = join(this.path, 'node_modules', name);
    return readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }

  #unpack(tarball: string): void {
    const unpacked = join(dirname(tarball), 'package');
    mkdirSync(unpacked);
    execFileSync('tar', ['-xzf', tarball, '-C', dirname(tarball)]);
    const manifest = readManifest(unpacked);
    const name = String(manifest.name);
    this.tarballs.set(name, readFileSync(tarball).length);
    execFileSync('mv', [unpacked, join(this.path, 'node_modules', name)]);
    for (const [command, file] of entriesOf(manifest.bin)) {
      symlinkSync(join('..', name, String(file)), join(this.path, 'node_modules/.bin', command));
    }
  }

  #linkDependenciesOf(name: string): void {
    const { dependencies, optionalDependencies } = this.manifest(name);
    this.#link(dependencies);
    this.#link(optionalDependencies);
  }

  #link(dependencies: unknown): void {
    for (const [name] of entriesOf(dependencies)) {
      if (this.tarballs.has(name)) continue;
      const place = join(this.path, 'node_modules', name);
      mkdirSync(dirname(place), { recursive: true });
      // Two packages may have the same dependency.
      execFileSync('ln', ['-sfn', join(ROOT, 'node_modules', name), place]);
    }
  }
}

function readManifest(folder: string): Record<string, unknown> {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (!isRecord(manifest)) throw new Error(`The package.json in ${folder} is no object`);
  return manifest;
}

function entriesOf(value: unknown): [string, unknown][] {
  return isRecord(value) ? Object.entries(value) : [];
}
