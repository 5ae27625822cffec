// One worker in development: its process, and the next one when its files have changed.
//
// Invariants:
//   E1  The process before is asked to end when the new one has registered, so that callers always find one of them.
//   E2  One that does not come up changes nothing: the one before goes on.
//   E3  Turns run one after the other; changes during a turn make one more.

import { type StartedProcess, startProcess } from '../effects/worker-process.ts';

export interface DevOrder {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface DevParts {
  /** What is to be run now; throws with the reason when the project cannot be read. */
  readonly order: () => Promise<DevOrder>;
  /** Resolves to a look for a worker that was not there before; undefined when no engine can be asked. */
  readonly watchForNew: () => Promise<RegistrationWatch | undefined>;
  readonly line: (stream: 'stdout' | 'stderr', text: string) => void;
  readonly say: (text: string) => void;
}

export interface RegistrationWatch {
  /** True when it is there, false when it was not within the time. */
  readonly appeared: () => Promise<boolean>;
  close(): void;
}

interface Generation {
  readonly process: StartedProcess;
  readonly ended: Promise<string>;
  isOver: boolean;
}

export class DevWorker {
  readonly #parts: DevParts;
  #current: Generation | undefined;
  #isTurning = false;
  #isAgainWanted = false;

  constructor(parts: DevParts) {
    this.#parts = parts;
  }

  /** Starts it, or starts it anew. */
  async turn(): Promise<void> {
    if (this.#isTurning) {
      this.#isAgainWanted = true;
      return;
    }
    this.#isTurning = true;
    do {
      this.#isAgainWanted = false;
      await this.#change().catch((error: Error) => this.#parts.say(error.message));
    } while (this.#isAgainWanted);
    this.#isTurning = false;
  }

  async #change(): Promise<void> {
    const { say } = this.#parts;
    const order = await this.#parts.order();
    const before = this.#current?.isOver === false ? this.#current : undefined;
    const watch = await this.#parts.watchForNew();
    if (watch === undefined) {
      say('the engine cannot be reached; the worker goes on trying');
      // Nobody calls it, so nobody misses it between the two.
      before?.process.terminate();
      await before?.ended;
      this.#current = this.#start(order);
      return;
    }
    try {
      const next = this.#start(order);
      const isThere = await Promise.race([watch.appeared(), next.ended]);
      if (typeof isThere === 'string') {
        say(before === undefined ? 'waiting for a change' : 'the one before goes on; waiting for a change');
        return;
      }
      say(isThere ? 'registered' : 'runs, but has not registered a function');
      this.#current = next;
      before?.process.terminate();
    } finally {
      watch.close();
    }
  }

  #start({ command, cwd, env }: DevOrder): Generation {
    const { line, say } = this.#parts;
    say(`starting: ${command}`);
    let tell: (cause: string) => void = () => {};
    const ended = new Promise<string>((resolve) => {
      tell = resolve;
    });
    const process = startProcess(
      { command, cwd, env },
      {
        line,
        ended: ({ cause }) => {
          generation.isOver = true;
          if (this.#current === generation) say(`ended: ${cause}; waiting for a change`);
          else say(`ended: ${cause}`);
          tell(cause);
        },
      },
    );
    const generation: Generation = { process, ended, isOver: false };
    return generation;
  }
}
