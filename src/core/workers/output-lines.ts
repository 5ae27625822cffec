// The last lines that a process wrote, bounded by count and bytes; the oldest are dropped first, and counted.

export interface OutputLine {
  /** Rises by one with every line of the supervisor. */
  readonly seq: number;
  readonly at_ms: number;
  readonly stream: 'stdout' | 'stderr' | 'svc';
  readonly text: string;
}

export const LINES_MAX = 5_000;
export const BYTES_MAX = 1024 * 1024;
/** The memory of a line in addition to its text. */
const LINE_BYTES = 64;

export class OutputLines {
  #lines: OutputLine[] = [];
  /** Lines before this index are dropped; the array is trimmed when they are half of it. */
  #first = 0;
  #bytes = 0;
  #lastSeq = 0;

  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** `svc`: the engine's own lines about the process. */
  add(stream: OutputLine['stream'], text: string, atMs: number): void {
    this.#lastSeq++;
    this.#lines.push({ seq: this.#lastSeq, at_ms: atMs, stream, text });
    this.#bytes += costOf(text);
    while (this.#lines.length - this.#first > LINES_MAX || this.#bytes > BYTES_MAX) {
      this.#bytes -= costOf(this.#lines[this.#first]?.text ?? '');
      this.#first++;
    }
    if (this.#first < this.#lines.length / 2) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }

  /**
   * The lines after `afterSeq` and not older than `sinceMs`, of these the last `limit`; and how many were dropped in
   * between.
   */
  read({ afterSeq = 0, sinceMs = 0, limit = LINES_MAX }: Wanted): { lines: readonly OutputLine[]; dropped: number } {
    const oldest = this.#lines[this.#first]?.seq ?? this.#lastSeq + 1;
    const lines = this.#lines.slice(this.#first).filter(({ seq, at_ms }) => seq > afterSeq && at_ms >= sinceMs);
    const dropped = afterSeq === 0 ? 0 : Math.max(0, oldest - afterSeq - 1);
    return { lines: lines.slice(Math.max(0, lines.length - limit)), dropped };
  }
}

interface Wanted {
  readonly afterSeq?: number;
  readonly sinceMs?: number;
  readonly limit?: number;
}

function costOf(text: string): number {
  return LINE_BYTES + text.length * 2;
}
