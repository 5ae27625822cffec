// Type errors of a project in development: shown beside what runs, and never a reason not to run it.

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

/** Looks with the compiler of the project, where it has one. */
export class TypeCheck {
  readonly #parts: TypeCheckParts;
  #running: ChildProcess | undefined;
  #hadErrors = false;

  constructor(parts: TypeCheckParts) {
    this.#parts = parts;
  }

  /** A look that is under way is of files that are no more. */
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
    if (errors.length === 0 && this.#hadErrors) say('types: no errors any more');
    this.#hadErrors = errors.length > 0;
  }
}

/** In the folder or above it, as far as its package reaches or the one around it. */
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
