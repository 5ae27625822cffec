// One worker in development: its process, and a new process when its files have changed.
//
// Invariants:
// - The old process ends only after the new one has registered, so that callers always find one of them.
// - A new process that does not register changes nothing: the old one keeps running.
// - Restarts run one after the other; changes during a restart cause one more.

import { type StartedProcess, startProcess } from '../../../effects/worker-process.ts';

export interface WorkerCommand {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface DevWorkerOptions {
  /** The command to run; throws with the reason when the project cannot be read. */
  readonly command: () => Promise<WorkerCommand>;
  /** Resolves to a check for a new worker; undefined when the engine cannot be reached. */
  readonly watchForNew: () => Promise<RegistrationWatch | undefined>;
  readonly line: (stream: 'stdout' | 'stderr', text: string) => void;
  readonly note: (text: string) => void;
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
  readonly #options: DevWorkerOptions;
  #current: Generation | undefined;
  #isRestarting = false;
  #isRestartWanted = false;

  constructor(options: DevWorkerOptions) {
    this.#options = options;
  }

  /** Starts or restarts the worker. */
  async restart(): Promise<void> {
    if (this.#isRestarting) {
      this.#isRestartWanted = true;
      return;
    }
    this.#isRestarting = true;
    do {
      this.#isRestartWanted = false;
      await this.#replace().catch((error: Error) => this.#options.note(error.message));
    } while (this.#isRestartWanted);
    this.#isRestarting = false;
  }

  async #replace(): Promise<void> {
    const { note } = this.#options;
    const command = await this.#options.command();
    const before = this.#current?.isOver === false ? this.#current : undefined;
    const watch = await this.#options.watchForNew();
    if (watch === undefined) {
      note('the engine cannot be reached; the worker keeps trying');
      // No call can reach the worker, so the gap between the two processes does no harm.
      before?.process.terminate();
      await before?.ended;
      this.#current = this.#start(command);
      return;
    }
    try {
      const next = this.#start(command);
      const isThere = await Promise.race([watch.appeared(), next.ended]);
      if (typeof isThere === 'string') {
        note(before === undefined ? 'waiting for a change' : 'the old process keeps running; waiting for a change');
        return;
      }
      note(isThere ? 'registered' : 'running, but it has not registered a function');
      this.#current = next;
      before?.process.terminate();
    } finally {
      watch.close();
    }
  }

  #start({ command, cwd, env }: WorkerCommand): Generation {
    const { line, note } = this.#options;
    note(`starting: ${command}`);
    let resolveEnd: (cause: string) => void = () => {};
    const ended = new Promise<string>((resolve) => {
      resolveEnd = resolve;
    });
    const process = startProcess(
      { command, cwd, env },
      {
        line,
        ended: ({ cause }) => {
          generation.isOver = true;
          if (this.#current === generation) note(`ended: ${cause}; waiting for a change`);
          else note(`ended: ${cause}`);
          resolveEnd(cause);
        },
      },
    );
    const generation: Generation = { process, ended, isOver: false };
    return generation;
  }
}
