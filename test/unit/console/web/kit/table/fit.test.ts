// Which columns of a table are drawn in a given width.

import { expect, test } from 'vitest';
import { type FitChoice, type FittedColumn, fitColumns } from '../../../../../../src/console/web/kit/table/fit.ts';

interface TestColumn extends FittedColumn {
  readonly width: number;
}

function column(id: string, width: number, more: Partial<FittedColumn> = {}): TestColumn {
  return { id, width, ...more };
}

function choiceOf(visible: readonly TestColumn[], own: readonly string[] = []): FitChoice<TestColumn> {
  return { visible, widthOf: ({ width }) => width, isOwn: (id) => own.includes(id) };
}

const COLUMNS = [
  column('key', 200, { grow: 1 }),
  column('type', 80),
  column('state', 100, { keeps: true }),
  column('size', 100),
];
const drawnIn = (roomPx: number, own: readonly string[] = []): string[] =>
  fitColumns(choiceOf(COLUMNS, own), roomPx).drawn.map(({ id }) => id);

test('[APP-13] Columns are hidden from the right, important ones last, and a row never ends in half a column', () => {
  expect(drawnIn(500)).toEqual(['key', 'type', 'state', 'size']);
  expect(drawnIn(399)).toEqual(['key', 'type', 'state']);
  expect(drawnIn(290)).toEqual(['key', 'state']);
  expect(drawnIn(100)).toEqual(['key', 'state']);
});

test('[APP-13] A column that grows shrinks before another one is hidden', () => {
  const { drawn, least } = fitColumns(choiceOf(COLUMNS), 400);
  expect(drawn).toHaveLength(4);
  expect(drawn.map(least)).toEqual([120, 80, 100, 100]);
});

test('[APP-13] A column that repeats another part of the page is hidden first, even at the left', () => {
  const columns = [column('type', 100, { yields: true }), ...COLUMNS];
  expect(fitColumns(choiceOf(columns), 499).drawn.map(({ id }) => id)).toEqual(['key', 'type', 'state', 'size']);
});

test('[APP-11] Columns that the user selected or sized stay', () => {
  expect(drawnIn(300, ['size'])).toEqual(['key', 'state', 'size']);
  expect(fitColumns(choiceOf(COLUMNS, ['key']), 400).drawn.map(({ id }) => id)).toEqual(['key', 'type', 'state']);
});

test('All columns are drawn until the width is known', () => {
  expect(drawnIn(-36)).toHaveLength(4);
});
