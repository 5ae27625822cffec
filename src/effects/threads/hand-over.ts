// The answer of a task, on its way to the thread that asked.

import { loadPiscina } from './piscina.ts';

/**
 * Up to this size a copy takes about as long as a hand-over. A thread that only has short answers, as during a start,
 * does not load Piscina for them.
 */
const COPIED_BYTES_MAX = 4096;

/** The buffer belongs to the other thread from here on. */
export function handOver(answer: ArrayBuffer): unknown {
  return answer.byteLength <= COPIED_BYTES_MAX ? answer : loadPiscina().move(answer);
}
