import { expect, test } from 'vitest';
import { ByteBudget, JointBudget } from '../../../../src/core/limits/byte-budget.ts';

test('bytes are charged to each of several budgets, or to none if one is full', () => {
  const [own, shared, all] = [new ByteBudget(10), new ByteBudget(15), new ByteBudget(20)];
  const joint = new JointBudget([
    { name: 'own', budget: own },
    { name: 'shared', budget: shared },
    { name: 'all', budget: all },
  ]);
  expect(joint.take(8)).toBe(true);
  expect([own.taken, shared.taken, all.taken]).toEqual([8, 8, 8]);
  expect([joint.take(3), joint.refusedBy]).toEqual([false, 'own']);
  joint.giveBack(8);
  shared.take(10);
  expect([joint.take(6), joint.refusedBy]).toEqual([false, 'shared']);
  all.take(18);
  expect([joint.take(3), joint.refusedBy]).toEqual([false, 'all']);
  expect([own.taken, shared.taken, all.taken]).toEqual([0, 10, 18]);
});
