// Which columns of a table are drawn in how much room.

import { expect, test } from 'vitest';
import { type FitChoice, type FittedColumn, fitColumns } from '../../../src/console/web/logic/fit-columns.ts';

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

test('[APP-13] columns give way from the right, the important ones last, and a row never ends in half of one', () => {
  expect(drawnIn(500)).toEqual(['key', 'type', 'state', 'size']);
  expect(drawnIn(399)).toEqual(['key', 'type', 'state']);
  expect(drawnIn(290)).toEqual(['key', 'state']);
  expect(drawnIn(100)).toEqual(['key', 'state']);
});

test('[APP-13] a column that grows becomes smaller before another one goes', () => {
  const { drawn, least } = fitColumns(choiceOf(COLUMNS), 400);
  expect(drawn).toHaveLength(4);
  expect(drawn.map(least)).toEqual([120, 80, 100, 100]);
});

test('[APP-13] what another part of the page says too gives way first, even at the left', () => {
  const columns = [column('type', 100, { yields: true }), ...COLUMNS];
  expect(fitColumns(choiceOf(columns), 499).drawn.map(({ id }) => id)).toEqual(['key', 'type', 'state', 'size']);
});

test('[APP-11] what the user chose or sized stays as it is', () => {
  expect(drawnIn(300, ['size'])).toEqual(['key', 'state', 'size']);
  expect(fitColumns(choiceOf(COLUMNS, ['key']), 400).drawn.map(({ id }) => id)).toEqual(['key', 'type', 'state']);
});

test('all columns are drawn until it is known how much room there is', () => {
  expect(drawnIn(-36)).toHaveLength(4);
});
