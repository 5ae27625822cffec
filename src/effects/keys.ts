// Keys of a terminal, one by one, without Enter.

/** Reports every key until the returned function is called; Ctrl-C comes as `\u0003`. */
export function readKeys(report: (key: string) => void): () => void {
  const { stdin } = process;
  const listener = (data: Buffer | string): void => {
    for (const key of data.toString()) report(key);
  };
  stdin.setRawMode(true);
  stdin.resume();
  stdin.on('data', listener);
  return () => {
    stdin.off('data', listener);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
