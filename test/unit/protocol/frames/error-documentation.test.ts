import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatFailureJson, OWN_CODES, toFailure, usageFailure } from '../../../../src/cli/kernel/failures.ts';
import { UPDATE_OFFENCES } from '../../../../src/core/update-ops/errors.ts';
import { docUrl, ERROR_CODES } from '../../../../src/protocol/frames/errors.ts';

const page = readFileSync(new URL('../../../../docs/errors.md', import.meta.url), 'utf8');
const anchors = [...page.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id);
const sectionOf = (title: string) => page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
const codesIn = (section: string) => [...section.matchAll(/<a id="([^"]+)"/g)].map(([, id]) => id);

test('docs/errors.md explains exactly the codes of the engine: meaning, HTTP status, retryable', () => {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { meaning, httpStatus, retryable }]) =>
      `| <a id="${code}"></a>\`${code}\` | ${meaning} | ${httpStatus} | ${retryable ? 'yes' : 'no'} | `,
  );
  for (const row of rows) expect(page).toContain(row);
  expect(codesIn(sectionOf('Calls'))).toEqual(Object.keys(ERROR_CODES));
});

test('docs/errors.md explains exactly the codes of update operations', () => {
  const codes = Object.entries(UPDATE_OFFENCES).flatMap(([op, offences]) =>
    Object.keys(offences).map((offence) => `${op}.${offence}`),
  );
  expect(codesIn(sectionOf('Update operations')).sort()).toEqual(codes.sort());
});

test('no code is explained twice', () => {
  expect(new Set(anchors).size).toBe(anchors.length);
});

test('[CLI-3] an error as JSON has the doc_url of its code if the page explains it', () => {
  const { error } = JSON.parse(formatFailureJson(usageFailure('wrong')));
  expect(error.doc_url).toBe(docUrl('USAGE'));
  expect(codesIn(sectionOf('Codes of the command line'))).toEqual(OWN_CODES);
  expect(JSON.parse(formatFailureJson(toFailure(new Error('a defect')))).error).not.toHaveProperty('doc_url');
});
