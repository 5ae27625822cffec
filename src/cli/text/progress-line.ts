// The progress of long work: done, rate and remaining time. On a terminal the line is overwritten; elsewhere one line
// is printed every few seconds, without cursor movements (CLI-5).

import type { Output } from './output.ts';
import type { Terminal } from './terminal.ts';
import { formatDuration } from './times.ts';

/** Where the line goes. */
export interface ProgressTarget {
  readonly output: Output;
  readonly terminal: Terminal;
}

export interface Work {
  readonly total: number;
  /** What is done with the items: `redriven`, `MiB copied`. */
  readonly word: string;
}

const TERMINAL_UPDATE_MS = 200;
const PIPE_UPDATE_MS = 5_000;
const START_OF_LINE = '\r\u001b[2K';

export class ProgressLine {
  readonly #work: Work;
  readonly #target: ProgressTarget;
  readonly #startedMs: number;
  #updatedMs: number;
  #isOpen = false;

  constructor(work: Work, target: ProgressTarget) {
    this.#work = work;
    this.#target = target;
    this.#startedMs = target.terminal.elapsedMs();
    this.#updatedMs = this.#startedMs;
  }

  /** Sets the number of finished items; `remarks` is printed after it. Frequent calls are cheap. */
  update(done: number, remarks = ''): void {
    const { output, terminal } = this.#target;
    const nowMs = terminal.elapsedMs();
    const { isTerminal } = terminal.err;
    if (nowMs - this.#updatedMs < (isTerminal ? TERMINAL_UPDATE_MS : PIPE_UPDATE_MS)) return;
    this.#updatedMs = nowMs;
    const { total, word } = this.#work;
    const perSecond = (done * 1_000) / (nowMs - this.#startedMs);
    const left = done === 0 ? '' : `  ${formatDuration(((total - done) * 1_000) / perSecond)} left`;
    const line = `${done}/${total} ${word}${remarks}  ${Number(perSecond.toFixed(perSecond < 10 ? 1 : 0))}/s${left}`;
    if (!isTerminal) return output.note(line);
    if (output.quiet) return;
    this.#isOpen = true;
    terminal.err.write(`${START_OF_LINE}${line}`);
  }

  /** Ends the line, so that further output starts on a new line. */
  end(): void {
    if (this.#isOpen) this.#target.terminal.err.write(START_OF_LINE);
  }
}
