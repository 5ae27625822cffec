// Lines for a pipe that may be full: each is written whole or not at all, without waiting.

/**
 * `write` takes bytes and returns how many of them it wrote; it throws where it takes none. The result is whether the
 * line was taken. If the pipe took part of a line, the rest goes before the next line.
 */
export function wholeLines(write: (bytes: Uint8Array) => number): (line: string) => boolean {
  let rest: Uint8Array = new Uint8Array(0);
  const push = (): boolean => {
    try {
      while (rest.length > 0) rest = rest.subarray(write(rest));
    } catch {
      // The pipe is full, or its reader is gone.
    }
    return rest.length === 0;
  };
  return (line) => {
    if (!push()) return false;
    const bytes = Buffer.from(`${line}\n`);
    rest = bytes;
    push();
    if (rest.length < bytes.length) return true;
    rest = rest.subarray(rest.length);
    return false;
  };
}
