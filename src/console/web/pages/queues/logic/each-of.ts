// The same operation on many items, a few at a time: a browser has few connections, and the engine has other callers.

const AT_ONCE = 6;

/** Continues after failures, and returns them. Calls `onProgress` with the number of finished items. */
export async function eachOf<T>(
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  onProgress: (done: number) => void = () => {},
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
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return failures;
}
