// Work that would hold the router's thread too long runs on these threads. The only file that knows Piscina, but for
// the task files in `workers/`.
//
// Threads of the pool start with the first work and end after a quiet minute: an idle engine pays nothing for them.

import { Piscina } from 'piscina';
import type { AlertInput, AlertVerdict } from '../core/telemetry/alert-rules.ts';
import type { MemberPlaces, ScanOffence } from '../protocol/envelope.ts';

/** One member per file in `workers/`. */
export interface Pool {
  /** Checks a frame in shared memory and tells where its members are. */
  scanFrame(bytes: ArrayBufferLike): Promise<MemberPlaces | ScanOffence>;
  /** Decides which alert rules hold. */
  evaluateAlerts(inputs: readonly AlertInput[], nowMs: number): Promise<readonly AlertVerdict[]>;
  close(): Promise<void>;
}

const IDLE_TIMEOUT_MS = 60_000;

export function createPool(threads: number): Pool {
  const pool = new Piscina({ minThreads: 0, maxThreads: threads, idleTimeout: IDLE_TIMEOUT_MS });
  // What a task file takes and gives is known from its name alone.
  const scans: Tasks<ArrayBufferLike, MemberPlaces | ScanOffence> = pool;
  const alerts: Tasks<{ inputs: readonly AlertInput[]; nowMs: number }, readonly AlertVerdict[]> = pool;
  const scanFrameFile = { filename: taskFile('scan-frame') };
  const alertsFile = { filename: taskFile('alerts') };
  return {
    scanFrame: (bytes) => scans.run(bytes, scanFrameFile),
    evaluateAlerts: (inputs, nowMs) => alerts.run({ inputs, nowMs }, alertsFile),
    close: () => pool.destroy(),
  };
}

type Tasks<Task, Answer> = Pick<Piscina<Task, Answer>, 'run'>;

/**
 * One thread of its own for what must never be ended while it is at work, and must find on each task what the one
 * before left: the writer of a store (decisions 19).
 */
export interface OwnThread<Task, Answer> {
  /** Tasks run in the order they were given. `handedOver` belongs to the thread from here on. */
  run(task: Task, handedOver?: readonly ArrayBuffer[]): Promise<Answer>;
  /** Waits for what runs on it, for a second at most. */
  close(): Promise<void>;
}

/** How many tasks lie at the thread's door, so that it finds the next one without asking for it. */
const TASKS_AT_THE_DOOR = 2;

/**
 * `isAwake`: its timers and sockets go on between tasks. Otherwise it sleeps until the next one, and wakes faster.
 */
export function createOwnThread<Task, Answer>(task: string, isAwake = false): OwnThread<Task, Answer> {
  const pool = new Piscina<Task, Answer>({
    filename: taskFile(task),
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: TASKS_AT_THE_DOOR,
    atomics: isAwake ? 'disabled' : 'sync',
  });
  const running = new Set<Promise<Answer>>();
  let isClosing = false;
  // An answer that arrives after the end would be thrown at nobody, and end the process.
  pool.on('error', (error) => {
    if (!isClosing) throw error;
  });
  return {
    run(work, handedOver = []) {
      const answer = pool.run(work, { transferList: [...handedOver] });
      running.add(answer);
      const done = (): void => {
        running.delete(answer);
      };
      answer.then(done, done);
      return answer;
    },
    async close() {
      // Ended in the middle of a task, a thread loses what it was about to write.
      await Promise.race([Promise.allSettled([...running]), pause(LAST_TASKS_MS)]);
      isClosing = true;
      await pool.destroy();
    },
  };
}

/** For what the thread is still at when it is to end. */
const LAST_TASKS_MS = 1_000;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Beside the sources while they run as they are, beside the bundle otherwise. */
function taskFile(task: string): string {
  const place = import.meta.url.endsWith('.ts') ? `../../workers/${task}.ts` : `../workers/${task}.js`;
  return new URL(place, import.meta.url).href;
}
