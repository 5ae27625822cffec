// A network of machines: network namespaces that are plugged into one switch, as is this machine. While the cable of a
// machine is pulled out, all packets to and from it are lost, and nothing is closed.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Machine } from './machine.ts';

/** Why no network can be made here. */
export function networkRefusal(): string | undefined {
  try {
    using _network = new Network();
    return undefined;
  } catch {
    return 'this machine refuses network namespaces or bridges, or has no ip';
  }
}

export class Network implements Disposable {
  /** This machine, as the others see it; programs of the test listen there. */
  readonly here: string;
  readonly #id = randomBytes(3).toString('hex');
  readonly #switch = `svcs${this.#id}`;
  readonly #start: string;
  #machines = 0;

  constructor() {
    const [first = 0, second = 0] = randomBytes(2);
    // Addresses for local use.
    this.#start = `10.${64 + (first % 128)}.${second}`;
    this.here = `${this.#start}.1`;
    ip('link', 'add', this.#switch, 'type', 'bridge');
    ip('addr', 'add', `${this.here}/24`, 'dev', this.#switch);
    ip('link', 'set', this.#switch, 'up');
  }

  addMachine(): Machine {
    const number = ++this.#machines;
    const name = `svc-${this.#id}-${number}`;
    const cable = `svc${number}${this.#id}`;
    const address = `${this.#start}.${number + 1}`;
    ip('netns', 'add', name);
    ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', cable, 'master', this.#switch);
    ip('link', 'set', cable, 'up');
    ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    for (const device of ['eth0', 'lo']) ip('-n', name, 'link', 'set', device, 'up');
    return new Machine({
      name,
      address,
      cut: () => ip('link', 'set', cable, 'nomaster'),
      reconnect: () => ip('link', 'set', cable, 'master', this.#switch),
      // The cable goes with it.
      remove: () => ip('netns', 'del', name),
    });
  }

  [Symbol.dispose](): void {
    ip('link', 'del', this.#switch);
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
