// Work that would hold the router's thread too long runs on these threads. The only file that knows Piscina.
//
// Threads start with the first work and end after a quiet minute: an idle engine pays nothing for them.

import { Piscina } from 'piscina';
import type { MemberPlaces, ScanOffence } from '../protocol/envelope.ts';

/** One member per file in `workers/`. */
export interface Pool {
  /** How many tasks run at a time; further ones wait. */
  readonly threads: number;
  /** Checks a frame in shared memory and tells where its members are. */
  scanFrame(bytes: ArrayBufferLike): Promise<MemberPlaces | ScanOffence>;
  close(): Promise<void>;
}

const IDLE_TIMEOUT_MS = 60_000;

export function createPool(threads: number): Pool {
  const pool = new Piscina<ArrayBufferLike, MemberPlaces | ScanOffence>({
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_TIMEOUT_MS,
  });
  const scanFrameFile = { filename: taskFile('scan-frame') };
  return {
    threads,
    scanFrame: (bytes) => pool.run(bytes, scanFrameFile),
    close: () => pool.destroy(),
  };
}

/** Beside the sources while they run as they are, beside the built files otherwise. */
function taskFile(task: string): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`../../workers/${task}.${extension}`, import.meta.url).href;
}
