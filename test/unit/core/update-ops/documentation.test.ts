import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { UPDATE_OFFENCES } from '../../../../src/core/update-ops/errors.ts';
import { readUpdateVectors } from '../../../support/random/update-vectors.ts';

const codes = Object.entries(UPDATE_OFFENCES).flatMap(([op, offences]) =>
  Object.entries(offences).map(([code, meaning]) => ({ code: `${op}.${code}`, meaning })),
);

test('docs/errors.md explains every code of an update operation at its doc_url', () => {
  const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8');
  for (const { code, meaning } of codes) expect(page).toContain(`<a id="${code}"></a>\`${code}\` | ${meaning} |`);
});

test('[S2] Every code of an update operation has a vector', () => {
  const seen = new Set(readUpdateVectors().flatMap(({ errors }) => errors.map(({ code }) => code)));
  expect(codes.map(({ code }) => code).filter((code) => !seen.has(code))).toEqual([]);
});
