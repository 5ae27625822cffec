// Which guarantees are promises: a rule listed here has a test whose title starts with its id. A rule that is not
// listed is not described to users either. Later rules join the list with the tests that prove them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROMISED = (
  'Q1 Q2 Q3 Q4 Q5 Q6 Q7 Q8 Q9 Q10 Q11 Q12 F1 F2 F3 F4 F5 R2 ' +
  'S1 S3 S4 S6 D1 D2 D3 D4 D5 D6 D7 D8 D9 D10 R1 R3 R4 R5 R6 ' +
  'I1 I2 I3 I4 I5 I6 I7 I8 V1 W1 W2 W3 W4 W5 G1 G2 K1 K4 X1 X2 X3 X4 X5 X6 X7 X8 X9 X10 X11 X12 X13 X14 X15 X19 X20 X21 X22 ' +
  'CLI-1 CLI-2 CLI-3 CLI-4 CLI-5 CLI-6 CLI-7 CLI-8 CLI-9 CLI-12 CLI-13 CLI-14 CLI-20 CLI-21 CLI-22 CLI-23 ' +
  'CR1 CR2 CR3 CR4 K2 K3 X16 X17 X18 ' +
  'H1 H2 H3 S2 S5 T1 T2 T3 T4 T5 T6 T7 T8 SDK-1 SDK-2 SDK-3 SDK-5 SDK-6 SDK-7 SDK-8 SDK-12 SDK-13 SDK-14 SDK-15'
).split(' ');

/** Faults of the catalogue (guarantees 7) with a test whose title names them: `[fault 33]`. */
const PROVEN_FAULTS =
  '1 2 3 4 5 7 8 9 11 12 13 18 27 28 29 30 32 33 34 35 36 37 38 39 40 41 42 43 45 47 48 52 53'.split(' ');

const FOLDER = import.meta.dirname;

function textsOf(ending: string): string {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && name !== 'rules.test.ts')
    .map((name) => readFileSync(join(FOLDER, name), 'utf8'))
    .join('\n');
}

test('every promised rule has a test that names it', () => {
  const titles = textsOf('.test.ts');
  const named = new Set([...titles.matchAll(/\[([A-Z]{1,3}-?\d{1,2})\]/g)].map((match) => match[1]));
  // Several ids may share a title: `[W2, W3] …` or `[G1] [G2] …`.
  for (const match of titles.matchAll(/\[([A-Z]{1,3}-?\d{1,2}(?:, [A-Z]{1,3}-?\d{1,2})+)\]/g)) {
    for (const id of match[1]?.split(', ') ?? []) named.add(id);
  }
  expect(PROMISED.filter((id) => !named.has(id))).toEqual([]);
});

test('every fault that is proven has a test that names it', () => {
  // Suites that several transports share stand in files of their own.
  const titles = textsOf('.ts');
  const named = new Set([...titles.matchAll(/\[fault (\d+)\]/g)].map((match) => match[1]));
  expect(PROVEN_FAULTS.filter((number) => !named.has(number))).toEqual([]);
});
