// A list as the answer of a command: everything up to the limits, or exactly the requested page (S4).

import { Refusal } from '../../core/calls/refusal.ts';
import type { CommandInput } from './command-input.ts';

export const LIST_ENTRIES_MAX = 10_000;
export const LIST_BYTES_MAX = 4 * 1024 * 1024;

export interface PageRequest {
  readonly offset: number;
  /** Entries wanted, or `undefined` for all there are. */
  readonly limit: number | undefined;
  /** Entries to read: one more than the limit of a list shows that there are more. */
  readonly limitOrOneMore: number;
}

export function pageOf(input: CommandInput): PageRequest {
  const offset = input.wholeNumber('offset', 0, Number.MAX_SAFE_INTEGER) ?? 0;
  const limit = input.wholeNumber('limit', 1, LIST_ENTRIES_MAX);
  return { offset, limit, limitOrOneMore: limit ?? LIST_ENTRIES_MAX + 1 };
}

export class JsonList {
  readonly #functionId: string;
  readonly #limit: number | undefined;
  readonly #pieces: Uint8Array[] = [];
  #count = 0;
  #bytes = 2;

  constructor(functionId: string, { limit }: PageRequest) {
    this.#functionId = functionId;
    this.#limit = limit;
  }

  /** The pieces of one entry's JSON. Throws the refusal of a list that grew too large. */
  add(...pieces: readonly Uint8Array[]): void {
    if (this.#count > 0) this.#pieces.push(COMMA);
    for (const piece of pieces) {
      this.#pieces.push(piece);
      this.#bytes += piece.length;
    }
    this.#bytes += 1;
    this.#count++;
    if (this.#limit === undefined && this.#count > LIST_ENTRIES_MAX)
      throw this.#tooLarge(`${LIST_ENTRIES_MAX} entries`);
    // A single entry may be as large as the limit of a value, and must be readable.
    if (this.#bytes > LIST_BYTES_MAX && this.#count > 1) throw this.#tooLarge(`${LIST_BYTES_MAX} bytes`);
  }

  end(): Buffer {
    return Buffer.concat([OPEN, ...this.#pieces, CLOSE]);
  }

  #tooLarge(limit: string): Refusal {
    const hint = this.#limit === undefined ? "Ask for a page with 'offset' and 'limit'" : "Ask for less with 'limit'";
    return new Refusal('RESULT_TOO_LARGE', `The result of ${this.#functionId} is over the limit of ${limit}. ${hint}`);
  }
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');
