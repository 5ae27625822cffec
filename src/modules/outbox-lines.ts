// How the jobs of one page of an outbox leave: all at once, but those of one line, which is a group of a FIFO queue,
// one after the other. Where one of them is refused, those behind it are not sent: room that comes meanwhile must not
// let them overtake it (F3).

/** `line` is `undefined` where order means nothing. `done` of each job that is sent says whether it was taken. */
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
