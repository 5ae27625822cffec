import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { engineVersion } from '../../../src/effects/version.ts';

test('[CLI-10] The version is the one of the package', () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(manifest).toHaveProperty('version', engineVersion());
});
