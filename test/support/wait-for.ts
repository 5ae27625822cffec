// Waiting for a state that no event announces, such as a registration, which the wire does not acknowledge.

const LOOK_INTERVAL_MS = 5;
/** Far above what anything takes: a short limit fails tests on a busy machine and finds no fault. */
const WAIT_MS_MAX = 30_000;

/** Repeats `look` until it returns a value other than `undefined` or `false`. `what` names it on failure. */
export async function waitFor<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = WAIT_MS_MAX,
): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endMs) throw new Error(`Waited ${timeoutMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
  }
}

/** The promise's value, or a failure that names what did not happen in time. */
export async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${timeoutMs} ms in vain until ${what}`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
