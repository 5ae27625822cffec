// Fault 41: texts made to be slow to read, through every parser of untrusted text. The figure is the cost of each; the
// tests of each parser show without a clock that it is bounded. The long form checks the time against the limit.

import { CronExpressionParser } from 'cron-parser';
import { expect, test } from 'vitest';
import { readDocument } from '../../../src/config/document.ts';
import { readPattern } from '../../../src/core/access/pattern.ts';
import { readExpression } from '../../../src/core/cron/expression.ts';
import { nextLocal } from '../../../src/core/cron/next-local.ts';
import { AddressBlocks, clientAddress } from '../../../src/core/limits/client-address.ts';
import { queryParameters } from '../../../src/modules/stream/admission.ts';
import { decodeWorkerFrame } from '../../../src/protocol/frames/decode.ts';
import { queryText } from '../../../src/protocol/http/request-text.ts';
import { CommandInput } from '../../../src/store/thread/command-input.ts';
import { faultLine } from '../../support/load/fault-line.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
const MS_MAX = 10;
/** The best run counts, because other load on the machine is not the cost of the parser. */
const TRIES = 5;
const DEPTH = 100_000;

const stars = readPattern(`${'*a'.repeat(15)}*b`);
const proxies = new AddressBlocks(['10.0.0.0/8']);
const never = readExpression('59 59 23 29 2 1 2096', CronExpressionParser);
const nested = Buffer.from(`{"scope":"s","key":"k","value":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`);
const frame = Buffer.from(
  `{"type":"invokefunction","invocation_id":"i","function_id":"f","data":${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}}`,
);
const escaped = Buffer.from(`{${Array.from({ length: 3_000 }, () => '"\\u0061\\u0062"').join(':1,')}:1}`);

const READERS: Readonly<Record<string, () => unknown>> = {
  'pattern of 16 stars on 256 bytes': () => stars.ok && stars.pattern.matches('a'.repeat(256)),
  'pattern of 17 stars': () => readPattern('*a'.repeat(17)),
  'cron list of 256 characters': () => readExpression(`${'0-59/1,'.repeat(34)}0 * * * *`, CronExpressionParser),
  'cron expression of 100 KB': () => readExpression('*/1,'.repeat(25_000), CronExpressionParser),
  'cron date that hardly comes': () => never.ok && nextLocal(never.times, 0),
  [`JSON of depth ${DEPTH} in a frame`]: () => decodeWorkerFrame(frame),
  [`JSON of depth ${DEPTH} in a command`]: () => new CommandInput('state::set', nested).name('key'),
  'JSON of 3000 escaped keys': () => new CommandInput('state::set', escaped).json('ab'),
  'X-Forwarded-For of 16 KiB': () => clientAddress('10.0.0.1', '10.1.1.1,'.repeat(1_800), proxies),
  'query of one name 4000 times': () => queryParameters('a&'.repeat(4_000)),
  'query of 8 KiB of escapes': () => queryText('%26a=%3d&'.repeat(900)),
  'YAML brackets of 4000 bytes': () => readDocument('['.repeat(4_000), 'f'),
  'YAML braces of 4000 bytes': () => readDocument('{a: '.repeat(1_000), 'f'),
  'YAML question marks of 4000 bytes': () => readDocument('? '.repeat(2_000), 'f'),
  'YAML aliases of 300 bytes': () => readDocument(`a: &a [x,x]\nb: [${'*a,'.repeat(90)}*a]`, 'f'),
};

test(`[X11] [X21] [fault 41] ${Object.keys(READERS).length} texts made to be slow are read or refused at once`, () => {
  const line = faultLine('41', 'matcher and parser cost', `ms each<=${MS_MAX}`);
  const costs = Object.entries(READERS).map(([what, read]) => ({ what, ms: costOf(read) }));
  const [worst] = costs.sort((one, other) => other.ms - one.ms);
  line.figure = `ms at most=${worst?.ms.toFixed(2)},of ${worst?.what}`;
  expect(stars.ok && never.ok).toBe(true);
  if (IS_LONG) expect(costs.filter(({ ms }) => ms > MS_MAX)).toEqual([]);
});

/** A parser may refuse by throwing. */
function costOf(read: () => unknown): number {
  const tries = Array.from({ length: TRIES }, () => {
    const startMs = performance.now();
    try {
      read();
    } catch {
      // It refused.
    }
    return performance.now() - startMs;
  });
  return Math.min(...tries);
}
