// Which traces are kept (modules 11.8).

import { expect, test } from 'vitest';
import { readPattern } from '../../../../../src/core/access/pattern.ts';
import {
  isWithin,
  placeOf,
  Sampler,
  type SamplingRule,
  type SamplingSettings,
  traceIdAt,
} from '../../../../../src/core/telemetry/spans/sampling.ts';
import { SeededRandom } from '../../../../support/random/seeded-random.ts';
import { ALL_TRACES } from '../../../../support/telemetry/observed.ts';

const random = new SeededRandom(7);
const TRACE_IDS = Array.from({ length: 10_000 }, () => random.token());

function rule(operation: string | undefined, service: string | undefined, rate: number): SamplingRule {
  return { operation: patternOf(operation), service: patternOf(service), rate };
}

function patternOf(text: string | undefined) {
  if (text === undefined) return undefined;
  const read = readPattern(text);
  if (!read.ok) throw new Error(read.reason);
  return read.pattern;
}

function decide(settings: Partial<SamplingSettings>, operation: string, service = 'svc', traceId = TRACE_IDS[0] ?? '') {
  return new Sampler({ ...ALL_TRACES, ...settings }).decide(placeOf(traceId), operation, service, () => 0);
}

test.each([0, 0.1, 0.5, 1])('with the rate %d, that share of many traces is kept', (rate) => {
  const kept = TRACE_IDS.filter((traceId) => isWithin(traceId, rate)).length;
  expect(Math.abs(kept / TRACE_IDS.length - rate)).toBeLessThan(0.02);
});

test('the trace id alone decides, and a higher rate keeps all traces of a lower one', () => {
  for (const traceId of TRACE_IDS.slice(0, 500)) {
    expect(isWithin(traceId, 0.3)).toBe(isWithin(traceId, 0.3));
    if (isWithin(traceId, 0.3)) expect(isWithin(traceId, 0.6)).toBe(true);
  }
});

test('an id made for a position has that position and is otherwise random', () => {
  const [first = '', second = ''] = TRACE_IDS;
  for (const place of [0, 0.25, 0.999_999]) {
    const ids = [traceIdAt(place, first), traceIdAt(place, second)];
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
    for (const id of ids) expect(placeOf(id)).toBeCloseTo(place, 12);
    expect(ids[0]).not.toBe(ids[1]);
  }
});

test('a marked beginning of a trace id does not change the decision', () => {
  const kept = TRACE_IDS.filter((traceId) => isWithin(`106c0de5${traceId.slice(8)}`, 0.5)).length;
  expect(Math.abs(kept / TRACE_IDS.length - 0.5)).toBeLessThan(0.02);
});

test('the first rule decides whose patterns all match, and an absent pattern matches everything', () => {
  const settings = {
    defaultRate: 0,
    rules: [
      rule('api.*', 'shop', 1),
      rule('api.secret', undefined, 0),
      rule('api.*', undefined, 1),
      rule(undefined, 'batch', 1),
    ],
  };
  expect(decide(settings, 'api.secret', 'shop')).toBe(true);
  expect(decide(settings, 'api.secret', 'other')).toBe(false);
  expect(decide(settings, 'api.list', 'other')).toBe(true);
  expect(decide(settings, 'job', 'batch')).toBe(true);
  expect(decide(settings, 'job', 'other')).toBe(false);
});

test.each([0.001, 0.1, 0.5, 0.999])('with the rate %d, that share of traces without an id is not skipped', (rate) => {
  const sampler = new Sampler({ ...ALL_TRACES, defaultRate: rate });
  const draw = new SeededRandom(11);
  const gaps: number[] = [];
  let since = 0;
  for (let at = 0; at < 200_000; at++) {
    since++;
    if (sampler.skips(() => draw.fraction())) continue;
    gaps.push(since);
    since = 0;
  }
  expect(Math.abs(gaps.length / 200_000 - rate)).toBeLessThan(0.1 * rate);
  // As often as with a number for each: the next one after a kept trace is kept at the same rate.
  const atOnce = gaps.filter((gap) => gap === 1).length / gaps.length;
  expect(Math.abs(atOnce - rate)).toBeLessThan(0.02);
});

test('with a rate too small to change 1, no trace is kept', () => {
  const sampler = new Sampler({ ...ALL_TRACES, defaultRate: 1e-300 });
  const draw = new SeededRandom(11);
  for (let at = 0; at < 1_000; at++) expect(sampler.skips(() => draw.fraction())).toBe(true);
});

test('the position of a trace that is not skipped lies within the rate', () => {
  const sampler = new Sampler({ ...ALL_TRACES, defaultRate: 0.25 });
  for (const draw of [0, 0.5, 1 - Number.EPSILON]) {
    expect(sampler.decide(sampler.placeOfNext(draw), 'f', '', () => 0)).toBe(true);
  }
});

test('where rules give several rates, no trace is skipped before its rule is known', () => {
  const sampler = new Sampler({ ...ALL_TRACES, defaultRate: 0.001, rules: [rule('checkout::*', undefined, 1)] });
  expect(sampler.skips(() => 0.5)).toBe(false);
  expect(sampler.decide(sampler.placeOfNext(0.9), 'checkout::pay', '', () => 0)).toBe(true);
});

test('a limit of traces per second holds, after a quiet time too', () => {
  const sampler = new Sampler({ ...ALL_TRACES, tracesPerSecondMax: 5 });
  const keep = (nowMs: number): number =>
    TRACE_IDS.slice(0, 20).filter((traceId) => sampler.decide(placeOf(traceId), 'f', 'svc', () => nowMs)).length;
  expect(keep(1_000)).toBe(5);
  expect(keep(1_000)).toBe(0);
  expect(keep(1_400)).toBe(2);
  expect(keep(60_000)).toBe(5);
  expect(sampler.takeLimited()).toBe(15 + 20 + 18 + 15);
});

test('sampling is off only if no rate is above 0', () => {
  expect(new Sampler({ ...ALL_TRACES, defaultRate: 0 }).isNever).toBe(true);
  expect(new Sampler({ ...ALL_TRACES, defaultRate: 0, rules: [rule('a', undefined, 0.1)] }).isNever).toBe(false);
});
