// The columns of a table that fit, as its container becomes wider or narrower.

import { type RefObject, useLayoutEffect, useMemo, useState } from 'react';
import type { Column, ColumnChoice } from './column.ts';
import { type Fit, fitColumns } from './logic/fit-columns.ts';

/** Computes them before the table is painted. */
export function useFit<Row>(
  choice: ColumnChoice<Row>,
  element: RefObject<HTMLElement | null>,
  takenPx: number,
): Fit<Column<Row>> {
  const [widthPx, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    setWidth(current.clientWidth);
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return useMemo(() => fitColumns(choice, widthPx - takenPx), [choice, widthPx, takenPx]);
}
