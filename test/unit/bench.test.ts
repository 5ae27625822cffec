import { describe, expect, test } from 'vitest';
import { steps } from '../../bench/micro/suites.ts';

describe('micro-benchmarks in smoke size', () => {
  test.each(steps())('$name does its work', ({ run }) => {
    for (let round = 0; round < 3; round++) expect(run()).toBeGreaterThan(0);
  });
});
