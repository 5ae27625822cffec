// How the process ends. Node aborts the process (SIGABRT, with a core dump) when it ends while one of its threads loads
// a native library or a module, and a thread takes a few hundred milliseconds to load.

/** How long the end of a thread or of the process waits for what loads. On a busy machine it took over a second. */
export const LOAD_MS_MAX = 5_000;

const loading = new Set<Promise<unknown>>();

/** The process does not end until `loaded` has settled. */
export function delayEnd(loaded: Promise<unknown>): void {
  addUntilSettled(loading, loaded);
}

/** Ends the process: at once if no thread is loading, else as soon as all are loaded, for five seconds at most. */
export function endProcess(exitCode: number): void {
  if (loading.size === 0) process.exit(exitCode);
  void withinMs(LOAD_MS_MAX, Promise.allSettled(loading)).then(() => process.exit(exitCode));
}

export function addUntilSettled<T>(all: Set<Promise<T>>, one: Promise<T>): void {
  const settled = (): void => {
    all.delete(one);
  };
  all.add(one);
  one.then(settled, settled);
}

/** Resolves with `done`, or after that time. Unlike the timers of the clock it keeps the process alive meanwhile. */
export async function withinMs(ms: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, timeout]);
  clearTimeout(timer);
}
