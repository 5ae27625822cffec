import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configurationReference } from '../../../src/config/reference.ts';
import { MODULES } from '../../../src/modules/catalogue.ts';

test('docs/configuration.md matches the schemas; `npm run docs` updates it', () => {
  const written = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  expect(written).toBe(configurationReference(MODULES.map(({ declaration }) => declaration)));
});
