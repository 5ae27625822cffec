// The same for each of many, a few at a time: a browser has only so many connections, and the engine other callers.

const AT_ONCE = 6;

/** Goes on after failures, and answers them. `told` hears how many are done. */
export async function eachOf<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  told: (done: number) => void = () => {},
): Promise<unknown[]> {
  const failures: unknown[] = [];
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      try {
        await act(items[at] as T);
      } catch (thrown) {
        failures.push(thrown);
      }
      told(++done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return failures;
}
