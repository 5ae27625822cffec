// Type errors of a project in development. They are shown, but never keep the worker from running.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface TypeCheckParts {
  readonly folder: string;
  /** The program that runs the compiler. */
  readonly node: string;
  readonly line: (text: string) => void;
  readonly say: (text: string) => void;
}

/** Checks with the compiler of the project, if it has one. */
export class TypeCheck {
  readonly #parts: TypeCheckParts;
  #running: ChildProcess | undefined;
  #hadErrors = false;

  constructor(parts: TypeCheckParts) {
    this.#parts = parts;
  }

  /** A check that is still running is outdated: the files have changed. */
  look(): void {
    this.#running?.kill();
    this.#running = undefined;
    const { folder, node } = this.#parts;
    const project = nearest(folder, 'tsconfig.json');
    const compiler = compilerOf(folder);
    if (project === undefined || compiler === undefined) return;
    const args = [compiler, '--noEmit', '--pretty', 'false', '--project', project];
    const child = spawn(node, args, { cwd: dirname(project), stdio: ['ignore', 'pipe', 'ignore'] });
    this.#running = child;
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.once('error', () => {});
    child.once('close', (code) => {
      if (this.#running !== child) return;
      this.#running = undefined;
      this.#tell(code === 0 ? [] : said.split('\n').filter((text) => text.trim() !== ''));
    });
  }

  #tell(errors: readonly string[]): void {
    const { line, say } = this.#parts;
    if (errors.length > 0) say('types:');
    for (const text of errors) line(text);
    if (errors.length === 0 && this.#hadErrors) say('types: no errors left');
    this.#hadErrors = errors.length > 0;
  }
}

/** In the folder or a folder above it, up to the root of the package or repository. */
function nearest(folder: string, name: string): string | undefined {
  const place = join(folder, name);
  if (existsSync(place)) return place;
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
