import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configurationReference } from '../../../src/config/reference.ts';
import { MODULES } from '../../../src/modules/catalogue.ts';

test('docs/configuration.md says what the schemas say; `npm run docs` writes it anew', () => {
  const written = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  expect(written).toBe(configurationReference(MODULES.map(({ declaration }) => declaration)));
});
