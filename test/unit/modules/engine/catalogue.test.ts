import { expect, test } from 'vitest';
import { MODULES } from '../../../../src/modules/catalogue.ts';
import { DECLARATIONS } from '../../../../src/modules/declarations.ts';

test('what a configuration is checked against are the declarations of the modules themselves, in their order', () => {
  expect(DECLARATIONS).toHaveLength(MODULES.length);
  for (const [index, { declaration }] of MODULES.entries()) expect(DECLARATIONS[index]).toBe(declaration);
});
