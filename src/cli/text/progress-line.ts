// The progress of long work: done, rate and remaining time. On a terminal the line is overwritten; elsewhere one line
// is printed every few seconds, without cursor movements (CLI-5).

import type { Output } from './output.ts';
import type { Terminal } from './terminal.ts';
import { formatDuration } from './times.ts';

/** Where the line goes. */
export interface Audience {
  readonly output: Output;
  readonly terminal: Terminal;
}

export interface Work {
  readonly total: number;
  /** What is done with the items: `redriven`, `MiB copied`. */
  readonly word: string;
}

const TOLD_ON_TERMINAL_MS = 200;
const TOLD_ELSEWHERE_MS = 5_000;
const START_OF_LINE = '\r\u001b[2K';

export class ProgressLine {
  readonly #work: Work;
  readonly #audience: Audience;
  readonly #startedMs: number;
  #toldMs: number;
  #isOpen = false;

  constructor(work: Work, audience: Audience) {
    this.#work = work;
    this.#audience = audience;
    this.#startedMs = audience.terminal.elapsedMs();
    this.#toldMs = this.#startedMs;
  }

  /** Sets the number of finished items; `troubles` is printed after it. Frequent calls are cheap. */
  tell(over: number, troubles = ''): void {
    const { output, terminal } = this.#audience;
    const nowMs = terminal.elapsedMs();
    const { isTerminal } = terminal.err;
    if (nowMs - this.#toldMs < (isTerminal ? TOLD_ON_TERMINAL_MS : TOLD_ELSEWHERE_MS)) return;
    this.#toldMs = nowMs;
    const { total, word } = this.#work;
    const perSecond = (over * 1_000) / (nowMs - this.#startedMs);
    const left = over === 0 ? '' : `  ${formatDuration(((total - over) * 1_000) / perSecond)} left`;
    const line = `${over}/${total} ${word}${troubles}  ${Number(perSecond.toFixed(perSecond < 10 ? 1 : 0))}/s${left}`;
    if (!isTerminal) return output.note(line);
    if (output.quiet) return;
    this.#isOpen = true;
    terminal.err.write(`${START_OF_LINE}${line}`);
  }

  /** Ends the line, so that further output starts on a new line. */
  end(): void {
    if (this.#isOpen) this.#audience.terminal.err.write(START_OF_LINE);
  }
}
