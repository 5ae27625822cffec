// Type errors of a project in development. They are shown, but never keep the worker from running.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface TypeCheckOptions {
  readonly folder: string;
  /** The program that runs the compiler. */
  readonly node: string;
  readonly line: (text: string) => void;
  readonly note: (text: string) => void;
}

/** Checks with the compiler of the project, if it has one. */
export class TypeCheck {
  readonly #options: TypeCheckOptions;
  #running: ChildProcess | undefined;
  #hadErrors = false;

  constructor(options: TypeCheckOptions) {
    this.#options = options;
  }

  /** A check that is still running is outdated: the files have changed. */
  check(): void {
    this.#running?.kill();
    this.#running = undefined;
    const { folder, node } = this.#options;
    const project = nearest(folder, 'tsconfig.json');
    const compiler = compilerOf(folder);
    if (project === undefined || compiler === undefined) return;
    const args = [compiler, '--noEmit', '--pretty', 'false', '--project', project];
    const child = spawn(node, args, { cwd: dirname(project), stdio: ['ignore', 'pipe', 'ignore'] });
    this.#running = child;
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    child.once('error', () => {});
    child.once('close', (code) => {
      if (this.#running !== child) return;
      this.#running = undefined;
      this.#report(code === 0 ? [] : printed.split('\n').filter((text) => text.trim() !== ''));
    });
  }

  #report(errors: readonly string[]): void {
    const { line, note } = this.#options;
    if (errors.length > 0) note('types:');
    for (const text of errors) line(text);
    if (errors.length === 0 && this.#hadErrors) note('types: no errors left');
    this.#hadErrors = errors.length > 0;
  }
}

/** In the folder or a folder above it, up to the root of the package or repository. */
function nearest(folder: string, name: string): string | undefined {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  const above = dirname(folder);
  return above === folder || existsSync(join(folder, '.git')) ? undefined : nearest(above, name);
}

function compilerOf(folder: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve('typescript/bin/tsc');
  } catch {
    return undefined;
  }
}
