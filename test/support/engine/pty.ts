// A program on a terminal: the test sends keys and reads the screen. The terminal is made by `script` of util-linux,
// which every Debian has (package bsdutils).

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { quoteForShell } from '../../../src/cli/text/shell.ts';
import { waitFor } from '../wait-for.ts';

/** Undefined if terminals can be made. */
export function terminalsMissing(): string | undefined {
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  return stdout?.includes('util-linux') ? undefined : 'No `script` of util-linux here: apt-get install bsdutils';
}

const PATIENCE_MS = 60_000;

export class OnTerminal implements AsyncDisposable {
  readonly #script: ChildProcess;
  readonly #closed: Promise<unknown>;
  /** The whole output. */
  screen = '';

  constructor(command: readonly string[], { cwd, env }: { cwd: string; env: Record<string, string> }) {
    const line = command.map(quoteForShell).join(' ');
    const options = ['--quiet', '--return', '--flush', '--command', line, '/dev/null'];
    const {
      SVC_URL: _url,
      SVC_TOKEN: _token,
      FORCE_COLOR: _colour,
      NODE_OPTIONS: _options,
      ...inherited
    } = process.env;
    this.#script = spawn('script', options, { cwd, env: { ...inherited, ...env }, stdio: 'pipe' });
    this.#script.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.screen += text;
    });
    // `close` fires after the output is read to its end.
    this.#closed = once(this.#script, 'close');
  }

  press(keys: string): void {
    this.#script.stdin?.write(keys);
  }

  /** Resolves when the output has the text that many times. */
  async shows(text: string, times = 1): Promise<void> {
    await waitFor(`the screen shows '${text}'`, () => this.screen.split(text).length > times, PATIENCE_MS).catch(
      (error: Error) => {
        throw new Error(`${error.message}; it shows:\n${this.screen}`);
      },
    );
  }

  /** How often the screen shows the text by now. */
  count(text: string): number {
    return this.screen.split(text).length - 1;
  }

  /** The exit code of the program. */
  async ends(): Promise<number | null> {
    await this.#closed;
    return this.#script.exitCode;
  }

  /** A terminal that goes takes its program with it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#script.kill('SIGKILL');
    await this.ends();
  }
}
