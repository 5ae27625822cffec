import { expect, test } from 'vitest';
import { isSampled, isTraceparent, spanIdOf, traceIdOf } from '../../../../../src/core/telemetry/spans/context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('a traceparent header is read', () => {
  const header = `00-${TRACE}-${SPAN}-01`;
  expect(isTraceparent(header)).toBe(true);
  expect(traceIdOf(header)).toBe(TRACE);
  expect(spanIdOf(header)).toBe(SPAN);
});

test.each([...'0123456789abcdef'])('the sampled flag is the lowest bit of the last digit: %s', (digit) => {
  expect(isSampled(`00-${TRACE}-${SPAN}-0${digit}`)).toBe(Number.parseInt(digit, 16) % 2 === 1);
});

test('a later version may have more fields', () => {
  expect(isTraceparent(`01-${TRACE}-${SPAN}-01-more`)).toBe(true);
  expect(isTraceparent(`01-${TRACE}-${SPAN}-01more`)).toBe(false);
});

test.each([
  undefined,
  '',
  'ff-',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}_${SPAN}-01`,
  `00-${TRACE}-${SPAN}-0g`,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-${'x'.repeat(500)}`,
])('an invalid header starts a new trace: %s', (header) => {
  expect(isTraceparent(header)).toBe(false);
});
