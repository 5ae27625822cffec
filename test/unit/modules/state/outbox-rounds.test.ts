import { expect, test } from 'vitest';
import { OutboxRounds } from '../../../../src/modules/outbox-rounds.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

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
