// Spans on their way to the telemetry thread, which keeps fewer than arrive (O1).

import { describe, expect, test } from 'vitest';
import { OpenSpan, ROW_LENGTH, readRow, SpanBuffer } from '../../../../../src/core/telemetry/spans/span-rows.ts';

const EPOCH_MS = 1_000;

function span(name: string): OpenSpan {
  return new OpenSpan('t', 's', '', name, 'f', '', 0);
}

function fill(buffer: SpanBuffer, names: readonly string[]): boolean[] {
  return names.map((name) => buffer.add(span(name), EPOCH_MS));
}

function taken(buffer: SpanBuffer): { names: string[]; pushedOut: number } {
  const { rows, pushedOut } = buffer.take();
  const count = rows.length / ROW_LENGTH;
  return { names: Array.from({ length: count }, (_, at) => readRow(rows, at * ROW_LENGTH).name), pushedOut };
}

describe('more spans than are kept', () => {
  test('keep the newest in order, and are counted', () => {
    const buffer = new SpanBuffer(3);
    expect(fill(buffer, ['a', 'b', 'c', 'd', 'e'])).toEqual([true, true, true, true, true]);
    expect(taken(buffer)).toEqual({ names: ['c', 'd', 'e'], pushedOut: 2 });
  });

  test('drop the oldest again and again', () => {
    const buffer = new SpanBuffer(2);
    fill(buffer, ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(taken(buffer)).toEqual({ names: ['f', 'g'], pushedOut: 5 });
  });
});

test('taken spans are gone, and later ones are in order', () => {
  const buffer = new SpanBuffer(2);
  fill(buffer, ['a', 'b', 'c']);
  taken(buffer);
  fill(buffer, ['d']);
  expect(buffer.count).toBe(1);
  expect(taken(buffer)).toEqual({ names: ['d'], pushedOut: 0 });
  expect(taken(buffer)).toEqual({ names: [], pushedOut: 0 });
});

test('a buffer without a limit refuses the newest when it is full', () => {
  const buffer = new SpanBuffer(Number.POSITIVE_INFINITY);
  const names = Array.from({ length: 8_200 }, (_, at) => String(at));
  const accepted = fill(buffer, names);
  expect(accepted.filter(Boolean)).toHaveLength(8_192);
  expect(taken(buffer)).toEqual({ names: names.slice(0, 8_192), pushedOut: 0 });
});

test('a buffer of size 0 accepts no span', () => {
  const buffer = new SpanBuffer(0);
  expect(fill(buffer, ['a'])).toEqual([false]);
  expect(taken(buffer)).toEqual({ names: [], pushedOut: 0 });
});
