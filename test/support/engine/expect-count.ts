// What the engine has counted. Further routers report their counts four times a second, so they come late.

import { expect } from 'vitest';
import { waitFor } from '../wait-for.ts';
import type { TestEngine } from './test-engine.ts';

type Counter = Parameters<TestEngine['counters']['get']>;

/** Waits until the counter has reached that number, which it must not exceed. */
export async function expectCount(engine: Pick<TestEngine, 'counters'>, wanted: number, ...counter: Counter) {
  const count = (): number => engine.counters.get(...counter);
  await waitFor(`${counter.join(' ')} is counted`, () => count() >= wanted).catch(() => {});
  expect(count(), counter.join(' ')).toBe(wanted);
}
