// A machine of its own in a network of the test, and the programs that run there.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitFor } from '../wait-for.ts';

interface Place {
  readonly name: string;
  readonly address: string;
  readonly cut: () => void;
  readonly reconnect: () => void;
  readonly remove: () => void;
}

export class Machine implements AsyncDisposable {
  readonly #place: Place;
  readonly #programs: ChildProcess[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  get address(): string {
    return this.#place.address;
  }

  /** The words before a command that is to run there. */
  get entrance(): readonly string[] {
    return ['ip', 'netns', 'exec', this.#place.name];
  }

  cut(): void {
    this.#place.cut();
  }

  reconnect(): void {
    this.#place.reconnect();
  }

  /** Runs a module of the test there until the machine is gone. It prints `ready`. */
  async run(file: string, ...args: string[]): Promise<void> {
    const [program = '', ...words] = [...this.entrance, process.execPath, file, ...args];
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#programs.push(child);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await waitFor('the program is ready', () => output.includes('ready'), 15_000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#programs) {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    this.#place.remove();
  }
}
