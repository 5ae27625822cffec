import { expect, test } from 'vitest';
import { sendInLines } from '../../../../src/modules/outbox-lines.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

interface Job {
  readonly line: string | undefined;
  readonly n: number;
}

test('[F3] [S5] Whatever a queue refuses meanwhile, no job of a group is taken before an earlier one', () => {
  forEachSeed(300, (random) => {
    const jobs = Array.from(
      { length: random.below(20) },
      (_, n): Job => ({
        line: random.pick(['a', 'b', undefined]),
        n,
      }),
    );
    const taken: Job[] = [];
    const answers: (() => void)[] = [];
    let isOver = false;
    const send = (job: Job, done: (isTaken: boolean) => void): void => {
      const answer = (): void => {
        const isTaken = random.chance(70);
        if (isTaken) taken.push(job);
        done(isTaken);
      };
      if (random.chance(30)) answer();
      else answers.push(answer);
    };
    sendInLines(
      jobs,
      ({ line }) => line,
      send,
      () => {
        isOver = true;
      },
    );
    while (answers.length > 0) {
      expect(isOver).toBe(false);
      answers.splice(random.below(answers.length), 1)[0]?.();
    }
    expect(isOver).toBe(jobs.length > 0);
    for (const line of ['a', 'b']) {
      const inOrder = taken.filter((job) => job.line === line);
      expect(inOrder).toEqual(jobs.filter((job) => job.line === line).slice(0, inOrder.length));
    }
  });
});

test('[S5] [Q12] Jobs of a queue without order, and those of other groups, wait for no answer', () => {
  const sent: number[] = [];
  const jobs: Job[] = ['a', undefined, 'a', 'b', undefined].map((line, n) => ({ line, n }));
  sendInLines(
    jobs,
    ({ line }) => line,
    ({ n }) => sent.push(n),
    () => {},
  );
  expect(sent.sort()).toEqual([0, 1, 3, 4]);
});
