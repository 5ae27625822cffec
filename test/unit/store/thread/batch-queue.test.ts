import { expect, test } from 'vitest';
import { BatchQueue } from '../../../../src/store/thread/batch-queue.ts';

/** Runs batches on demand, and notes which share a transaction. */
function createQueue() {
  const tasks: (() => void)[] = [];
  const transactions: string[][] = [];
  const answered: string[] = [];
  const queue = new BatchQueue({
    run: (batches) => {
      transactions.push(batches.map((batch) => Buffer.from(batch).toString()));
      return batches.map((batch) => ({ failure: `answer of ${Buffer.from(batch)}` }));
    },
    afterTurn: (task) => tasks.push(task),
  });
  return {
    transactions,
    answered,
    send: (from: string, text: string) =>
      queue.run(from, new TextEncoder().encode(text).buffer, (answer) => {
        answered.push('failure' in answer ? answer.failure : 'none');
      }),
    turn: () => tasks.shift()?.(),
  };
}

test('[RO15] batches of several routers that have arrived share a transaction', () => {
  const { send, turn, transactions, answered } = createQueue();
  send('one', 'a');
  send('two', 'b');
  turn();
  send('one', 'c');
  turn();
  expect(transactions).toEqual([['a', 'b'], ['c']]);
  expect(answered).toEqual(['answer of a', 'answer of b', 'answer of c']);
});

test('[RO15] a second batch of a router runs after its first one is answered', () => {
  const { send, turn, transactions, answered } = createQueue();
  send('one', 'a1');
  send('one', 'a2');
  send('two', 'b1');
  send('two', 'b2');
  turn();
  expect(answered).toEqual(['answer of a1', 'answer of b1']);
  turn();
  turn();
  expect(transactions).toEqual([
    ['a1', 'b1'],
    ['a2', 'b2'],
  ]);
});
