// One worker in development: its process, and a new process when its files have changed.
//
// Invariants:
// - The old process is asked to end only after the new one has registered, so that callers always find one of them.
// - A new process that does not register changes nothing: the old one keeps running.
// - Restarts run one after the other; changes during a restart cause one more.

import { type StartedProcess, startProcess } from '../../../effects/worker-process.ts';

export interface DevOrder {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface DevParts {
  /** The command to run; throws with the reason when the project cannot be read. */
  readonly order: () => Promise<DevOrder>;
  /** Resolves to a check for a new worker; undefined when the engine cannot be reached. */
  readonly watchForNew: () => Promise<RegistrationWatch | undefined>;
  readonly line: (stream: 'stdout' | 'stderr', text: string) => void;
  readonly say: (text: string) => void;
}

export interface RegistrationWatch {
  /** True when the worker is there, false when it did not appear in time. */
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

  /** Starts or restarts the worker. */
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
      say('the engine cannot be reached; the worker keeps trying');
      // No call can reach the worker, so the gap between the two processes does no harm.
      before?.process.terminate();
      await before?.ended;
      this.#current = this.#start(order);
      return;
    }
    try {
      const next = this.#start(order);
      const isThere = await Promise.race([watch.appeared(), next.ended]);
      if (typeof isThere === 'string') {
        say(before === undefined ? 'waiting for a change' : 'the old process keeps running; waiting for a change');
        return;
      }
      say(isThere ? 'registered' : 'running, but it has not registered a function');
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
