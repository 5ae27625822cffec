import { expect, test } from 'vitest';
import { type PendingOf, workersInKnots } from '../../../../src/core/calls/knots.ts';

interface Worker {
  readonly name: string;
  readonly inFlight: number;
  readonly inFlightMax: number;
}

const worker = (name: string, inFlight: number, inFlightMax: number): Worker => ({ name, inFlight, inFlightMax });
const call = (caller: Worker, ...targets: Worker[]): PendingOf<Worker> => ({ caller, targets });
const knots = (pending: PendingOf<Worker>[]): string[] => [...workersInKnots(pending)].map(({ name }) => name);

const a = worker('a', 2, 2);
const b = worker('b', 1, 1);
const free = worker('free', 1, 5);

test('[L6] a worker whose handlers all wait for a place on it is in a knot', () => {
  expect(knots([call(a, a), call(a, a)])).toEqual(['a']);
});

test('[L6] workers whose handlers wait for each other are in a knot', () => {
  expect(knots([call(a, b), call(a, b), call(b, a)])).toEqual(['a', 'b']);
});

test('[L6] a worker with a handler that does not wait is in none', () => {
  expect(knots([call(a, a)])).toEqual([]);
  expect(knots([call(a, b), call(b, a)])).toEqual([]);
});

test('[L6] a worker with a place is in none, and neither is who waits for it', () => {
  expect(knots([call(a, free), call(a, free), call(free, a)])).toEqual([]);
  expect(knots([call(a, a, free), call(a, a)])).toEqual([]);
});

test('[L6] a worker that waits for the engine, or for a worker that only works, is in none', () => {
  expect(knots([call(a), call(a, a)])).toEqual([]);
  expect(knots([call(a, b), call(a, b)])).toEqual([]);
});
