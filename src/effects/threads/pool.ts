// Work that would block the router's thread for too long runs on these threads. Only this file and the task files in
// `workers/` use Piscina, through `piscina.ts`.
//
// Threads of the pool start with the first task and end after an idle minute, so an idle engine pays nothing for them.

import module from 'node:module';
import { dirname } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { Piscina as PiscinaPool } from 'piscina';
import type { AlertInput, AlertVerdict } from '../../core/telemetry/metrics/alert-rules.ts';
import type { UpdateAnswer, UpdateTask } from '../../core/update-ops/update-task.ts';
import type { MemberRanges, ScanOffence } from '../../protocol/frames/envelope.ts';
import { addUntilSettled, delayEnd, LOAD_MS_MAX, withinMs } from '../process-end.ts';
import { loadPiscina } from './piscina.ts';
import { taskFile } from './task-file.ts';
import { shareSteps } from './whole-steps.ts';

/** One member per file in `workers/`. */
export interface Pool {
  /** Scans a frame in shared memory and returns the places of its members. */
  scanFrame(bytes: ArrayBufferLike): Promise<MemberRanges | ScanOffence>;
  /** Evaluates which alert rules hold. */
  evaluateAlerts(inputs: readonly AlertInput[], nowMs: number): Promise<readonly AlertVerdict[]>;
  /** Computes the new value of an update. */
  evaluateUpdate(task: UpdateTask): Promise<UpdateAnswer>;
  close(): Promise<void>;
}

const IDLE_TIMEOUT_MS = 60_000;
/** A thread that is ended in the middle of a task loses what it was to write. */
const LAST_TASKS_MS = LOAD_MS_MAX;

export function createPool(threads: number): Pool {
  const { Piscina } = loadPiscina();
  const pool = new Piscina({ minThreads: 0, maxThreads: threads, idleTimeout: IDLE_TIMEOUT_MS, ...common() });
  // The types of a task's input and output follow from its name.
  const scans: Tasks<ArrayBufferLike, MemberRanges | ScanOffence> = pool;
  const alerts: Tasks<{ inputs: readonly AlertInput[]; nowMs: number }, readonly AlertVerdict[]> = pool;
  const updates: Tasks<UpdateTask, UpdateAnswer> = pool;
  const scanFrameFile = { filename: taskFile('scan-frame') };
  const alertsFile = { filename: taskFile('alerts') };
  const updatesFile = { filename: taskFile('updates') };
  const running = new Set<Promise<unknown>>();
  // A thread loads the file of a task with the first task.
  const untilDone = <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    addUntilSettled(running, answer);
    delayEnd(answer);
    return answer;
  };
  return {
    scanFrame: (bytes) => untilDone(scans.run(bytes, scanFrameFile)),
    evaluateAlerts: (inputs, nowMs) => untilDone(alerts.run({ inputs, nowMs }, alertsFile)),
    evaluateUpdate: (task) => untilDone(updates.run(task, updatesFile)),
    async close() {
      await withinMs(LAST_TASKS_MS, Promise.allSettled(running));
      await pool.destroy();
    },
  };
}

type Tasks<Task, Answer> = Pick<PiscinaPool<Task, Answer>, 'run'>;

/**
 * A thread of its own for work that must never be ended while it runs, and that depends on the state of the previous
 * task: the writer of a store (PD-19).
 */
export interface OwnThread<Task, Answer> {
  /** Tasks run in the order they were given. `handedOver` belongs to the thread from here on. */
  run(task: Task, handedOver?: readonly (ArrayBuffer | MessagePort)[]): Promise<Answer>;
  /** Waits until the thread is loaded and its tasks are done, for five seconds at most. */
  close(): Promise<void>;
}

/** The number of queued tasks, which the thread reads to find the next one without a message. */
const TASKS_AT_THE_DOOR = 2;

/**
 * `isAwake`: its timers and sockets work between tasks. Otherwise the thread blocks until the next one, because waking
 * from a block is faster.
 */
export function createOwnThread<Task, Answer>(task: string, isAwake = false): OwnThread<Task, Answer> {
  shareSteps();
  const { Piscina } = loadPiscina();
  const pool = new Piscina<Task, Answer>({
    filename: taskFile(task),
    minThreads: 1,
    maxThreads: 1,
    idleTimeout: Number.POSITIVE_INFINITY,
    concurrentTasksPerWorker: TASKS_AT_THE_DOOR,
    // Otherwise a task that finds no free place goes to the end of the queue, after later ones.
    stricterFIFO: true,
    atomics: isAwake ? 'disabled' : 'sync',
    ...common(),
  });
  const running = new Set<Promise<Answer>>();
  const loaded = whenLoaded(pool.threads[0]);
  delayEnd(loaded);
  let isClosing = false;
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await withinMs(LAST_TASKS_MS, Promise.allSettled([loaded, ...running]));
    isClosing = true;
    await pool.destroy();
  };
  // An answer that arrives after the end would be an unhandled rejection, and end the process.
  pool.on('error', (error) => {
    if (!isClosing) throw error;
  });
  return {
    run(work, handedOver = []) {
      const answer = pool.run(work, { transferList: [...handedOver] });
      addUntilSettled(running, answer);
      return answer;
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** The first message of a thread of the pool says that it has loaded its file. */
function whenLoaded(thread: PiscinaPool['threads'][number] | undefined): Promise<void> {
  return new Promise((resolve) => {
    thread?.once('message', () => resolve());
    thread?.once('exit', () => resolve());
  });
}

/** The two histograms that a pool keeps of its tasks take 0.7 MiB, and time from each task. */
function common(): { env: NodeJS.ProcessEnv; recordTiming: false } {
  return { env: environment(), recordTiming: false };
}

/** A thread takes the cache of compiled code from its environment, and not from the thread that started it. */
export function environment(): NodeJS.ProcessEnv {
  const folder = module.getCompileCacheDir?.();
  // Its last part is of this version of Node, which the thread adds itself.
  return folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) };
}
