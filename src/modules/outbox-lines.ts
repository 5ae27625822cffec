// Sends the jobs of one page of an outbox: all at once, except those of one line (a group of a FIFO queue), which are
// sent one after the other. If one of them is refused, the later ones are not sent, because they could overtake it if
// room becomes free meanwhile (F3).

/** `line` is `undefined` where order does not matter. `done` is called for each sent job with whether it was taken. */
export function sendInLines<T>(
  jobs: readonly T[],
  lineOf: (job: T) => string | undefined,
  send: (job: T, done: (isTaken: boolean) => void) => void,
  allDone: () => void,
): void {
  const lines = new Map<string | T, T[]>();
  for (const job of jobs) {
    const name = lineOf(job) ?? job;
    const line = lines.get(name);
    if (line === undefined) lines.set(name, [job]);
    else line.push(job);
  }
  let left = lines.size;
  const sendFrom = (line: readonly T[], at: number): void => {
    const job = line[at];
    if (job !== undefined) send(job, (isTaken) => sendFrom(line, isTaken ? at + 1 : line.length));
    else if (--left === 0) allDone();
  };
  for (const line of [...lines.values()]) sendFrom(line, 0);
}
