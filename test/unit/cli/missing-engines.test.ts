import { expect, test } from 'vitest';
import { MissingEngines } from '../../../src/cli/engine/missing-engines.ts';

test('[CL30] a command warns once of each engine that gave no answer', () => {
  const missing = new MissingEngines();
  for (const answer of [null, 'text', {}, { missing_engines: [] }]) missing.note(answer);
  expect(missing.warnings).toEqual([]);
  const one = { engine: 'b', reason: 'ENGINE_UNREACHABLE: it is away' };
  missing.note({ missing_engines: [one] });
  missing.note({ missing_engines: [one] });
  expect(missing.warnings).toEqual([
    'The engine b gave no answer, and what it has is missing here: ENGINE_UNREACHABLE: it is away',
  ]);
});
