// Work that would hold the router's thread too long runs on these threads. The only file that knows Piscina, but for
// the task files in `workers/`.
//
// Threads of the pool start with the first work and end after a quiet minute: an idle engine pays nothing for them.

import { Piscina } from 'piscina';
import type { MemberPlaces, ScanOffence } from '../protocol/envelope.ts';

/** One member per file in `workers/`. */
export interface Pool {
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
    scanFrame: (bytes) => pool.run(bytes, scanFrameFile),
    close: () => pool.destroy(),
  };
}

/**
 * One thread of its own for what must never be ended while it is at work, and must find on each task what the one
 * before left: the writer of a store (decisions 19).
 */
export interface OwnThread<Task, Answer> {
  /** Tasks run in the order they were given. `handedOver` belongs to the thread from here on. */
  run(task: Task, handedOver?: readonly ArrayBuffer[]): Promise<Answer>;
  /** Only when nothing runs on it. */
  close(): Promise<void>;
}

/** How many tasks lie at the thread's door, so that it finds the next one without asking for it. */
const TASKS_AT_THE_DOOR = 2;

export function createOwnThread<Task, Answer>(task: string): OwnThread<Task, Answer> {
  const pool = new Piscina<Task, Answer>({
    filename: taskFile(task),
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: TASKS_AT_THE_DOOR,
  });
  return {
    run: (work, handedOver = []) => pool.run(work, { transferList: [...handedOver] }),
    close: () => pool.destroy(),
  };
}

/** Beside the sources while they run as they are, beside the built files otherwise. */
function taskFile(task: string): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`../../workers/${task}.${extension}`, import.meta.url).href;
}
