import { expect, test } from 'vitest';
import { OutboxRounds, sendInLines } from '../../../src/modules/outbox-order.ts';
import { forEachSeed } from '../../support/random/seeded-random.ts';

const PAGE = 3;
const QUEUES = ['a', 'b', 'c'];

test('[S5] [Q12] Whatever queues refuse meanwhile, and wherever a round ends: no entry is skipped for good', () => {
  forEachSeed(300, (random) => {
    const rounds = new OutboxRounds();
    const outbox = new Map<number, string>();
    let seq = 0;
    /** One page: those looked at, of which some go. */
    const page = (refuses: (queue: string) => boolean): boolean => {
      const { after, refusing } = rounds.next;
      const looked = [...outbox].filter(([at]) => at > after).slice(0, PAGE);
      for (const [at, queue] of looked.filter((entry) => !refusing.includes(entry[1]))) {
        if (refuses(queue)) rounds.refused(queue);
        else outbox.delete(at);
      }
      rounds.looked(looked.at(-1)?.[0] ?? after);
      return looked.length === PAGE;
    };
    for (let step = 0; step < 60; step++) {
      if (random.chance(40)) outbox.set(++seq, random.pick(QUEUES));
      if (random.chance(20)) rounds.begin();
      if (random.chance(60)) page(() => random.chance(50));
    }
    rounds.begin();
    while (page(() => false));
    expect([...outbox]).toEqual([]);
  });
});

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
