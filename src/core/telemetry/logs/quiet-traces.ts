// The mark of everything that a log trigger causes (O3). It is in the trace id: the one thing that every client carries
// from a handler to its calls, logs and spans, through queues and across engines, also unsampled.
//
//   106c0de5  <16 random digits>  <8 digits that only the key can compute from them>
//
// The beginning shows that the rest is worth checking: every other id costs one comparison. The end proves the mark, so
// that no client can forge one, and no trace of another tracer is taken for one.

import { createHmac } from 'node:crypto';
import { detach } from '../../../protocol/json/byte-string.ts';

const PREFIX = '106c0de5';
/** The position of the digits that prove it. */
const PROOF_START = 24;
const TRACE_ID_LENGTH = 32;
/** The position of the trace id in a traceparent header. */
const CONTEXT_START = 3;
/** Verdicts that are remembered: one id is checked again with every call and record that it causes. */
const KNOWN_MAX = 1_024;

/** The cause that triggers receive: the start of a chain, in a trace with the mark. */
export interface MarkedCause {
  readonly depth: number;
  readonly traceparent: string;
  readonly baggage: undefined;
}

export class QuietTraces {
  #key: string;
  readonly #known = new Map<string, boolean>();

  /** Engines with the same key recognise each other's marks. */
  constructor(key: string) {
    this.#key = key;
  }

  /** For the threads of this engine, and its store. A secret. */
  get key(): string {
    return this.#key;
  }

  /** Marks made before this are invalid from now on. */
  adopt(key: string): void {
    this.#key = key;
    this.#known.clear();
  }

  isMarked(traceId: string): boolean {
    return traceId.startsWith(PREFIX) && this.#isProven(traceId);
  }

  /** The same, of a traceparent header as received. */
  isMarkedContext(traceparent: string | undefined): boolean {
    if (traceparent === undefined || !traceparent.startsWith(PREFIX, CONTEXT_START)) return false;
    return this.#isProven(traceparent.slice(CONTEXT_START, CONTEXT_START + TRACE_ID_LENGTH));
  }

  /**
   * The cause of a log trigger's firing, for `RouterPort.fire`. Its context is unsampled: the collector makes the
   * decision for it itself and keeps the trace id. `token`: 32 random hexadecimal digits.
   */
  cause(token: string): MarkedCause {
    const start = PREFIX + token.slice(PREFIX.length, PROOF_START);
    return { depth: 0, traceparent: `00-${start}${this.#proofOf(start)}-${token.slice(16)}-00`, baggage: undefined };
  }

  #isProven(traceId: string): boolean {
    const known = this.#known.get(traceId);
    if (known !== undefined) return known;
    const isProven = traceId.slice(PROOF_START) === this.#proofOf(traceId.slice(0, PROOF_START));
    // Ids are chosen by clients.
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    // A substring would keep the whole frame in memory.
    this.#known.set(detach(traceId), isProven);
    return isProven;
  }

  #proofOf(start: string): string {
    return createHmac('sha256', this.#key)
      .update(start)
      .digest('hex')
      .slice(0, TRACE_ID_LENGTH - PROOF_START);
  }
}
