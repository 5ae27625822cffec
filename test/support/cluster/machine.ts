// A machine of its own: a network namespace with one cable to this one. While the cable is cut, all packets of both
// sides are lost, and nothing is closed.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { waitFor } from '../wait-for.ts';

/** A station that is not there. */
const LOST = '02:00:00:00:00:01';

/** Why no namespace can be made here. */
export function namespaceRefusal(): string | undefined {
  const name = `svc-try-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return undefined;
  } catch {
    return 'this machine refuses network namespaces, or has no ip';
  }
}

export class Machine implements AsyncDisposable {
  readonly name: string;
  /** This machine, as the other one sees it; programs of the test listen there. */
  readonly here: string;
  readonly #there: string;
  readonly #cable: string;
  readonly #programs: ChildProcess[] = [];

  private constructor() {
    const id = randomBytes(3);
    this.name = `svc-${id.toString('hex')}`;
    this.#cable = `svc${id.toString('hex')}`;
    // Addresses for local use, in a network of two.
    const start = `10.${64 + ((id[0] ?? 0) % 128)}.${id[1]}`;
    const base = ((id[2] ?? 0) >> 2) << 2;
    this.here = `${start}.${base + 1}`;
    this.#there = `${start}.${base + 2}`;
  }

  static add(): Machine {
    const machine = new Machine();
    const { name, here } = machine;
    ip('netns', 'add', name);
    ip('link', 'add', machine.#cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('addr', 'add', `${here}/30`, 'dev', machine.#cable);
    ip('link', 'set', machine.#cable, 'up');
    ip('-n', name, 'addr', 'add', `${machine.#there}/30`, 'dev', 'eth0');
    for (const device of ['eth0', 'lo']) ip('-n', name, 'link', 'set', device, 'up');
    return machine;
  }

  /** The words before a command that is to run there. */
  get entrance(): readonly string[] {
    return ['ip', 'netns', 'exec', this.name];
  }

  cut(): void {
    ip('neigh', 'replace', this.#there, 'lladdr', LOST, 'dev', this.#cable, 'nud', 'permanent');
    ip('-n', this.name, 'neigh', 'replace', this.here, 'lladdr', LOST, 'dev', 'eth0', 'nud', 'permanent');
  }

  reconnect(): void {
    ip('neigh', 'del', this.#there, 'dev', this.#cable);
    ip('-n', this.name, 'neigh', 'del', this.here, 'dev', 'eth0');
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
    // The cable goes with it.
    ip('netns', 'del', this.name);
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
