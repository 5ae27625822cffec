import { expect, test } from 'vitest';
import { MODULES } from '../../../src/modules/catalogue.ts';
import { DECLARATIONS } from '../../../src/modules/declarations.ts';

test('a configuration is checked against the declarations of all modules, in their order', () => {
  expect(DECLARATIONS).toHaveLength(MODULES.length);
  for (const [index, { declaration }] of MODULES.entries()) expect(DECLARATIONS[index]).toBe(declaration);
});
