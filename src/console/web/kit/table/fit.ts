// Which columns of a table are drawn as its container becomes wider or narrower: next to an open detail, on a phone. A
// row that ends in half a column is useless.

export interface FittedColumn {
  readonly id: string;
  readonly grow?: number;
  /** The last to be hidden. */
  readonly keeps?: boolean;
  /** The first to be hidden, wherever it is: another column shows the same. */
  readonly yields?: boolean;
}

export interface FitChoice<C extends FittedColumn> {
  readonly visible: readonly C[];
  readonly widthOf: (column: C) => number;
  /** The user selected it or set its width: it is not hidden. */
  readonly isOwn: (id: string) => boolean;
}

export interface Fit<C extends FittedColumn> {
  /** The columns that are drawn. */
  readonly drawn: readonly C[];
  /** The smallest width of each. */
  readonly least: (column: C) => number;
}

/** A column that grows may also shrink below its declared width. */
const SHRINKS_TO = 0.6;
/** A table has at least this many columns. */
const COLUMNS_MIN = 2;

/**
 * Hides columns from the right, except those that the page or the user marked. Without a known width, none is hidden.
 */
export function fitColumns<C extends FittedColumn>(choice: FitChoice<C>, widthPx: number): Fit<C> {
  const least = (column: C): number => {
    const width = choice.widthOf(column);
    return column.grow === undefined || choice.isOwn(column.id) ? width : Math.round(width * SHRINKS_TO);
  };
  const drawn = [...choice.visible];
  let needed = drawn.reduce((sum, column) => sum + least(column), 0);
  while (widthPx > 0 && needed > widthPx && drawn.length > COLUMNS_MIN) {
    const mayGo = ({ id, keeps }: C): boolean => keeps !== true && !choice.isOwn(id);
    const yielding = drawn.findIndex((column) => column.yields === true && mayGo(column));
    const at = yielding === -1 ? drawn.findLastIndex((column, index) => index > 0 && mayGo(column)) : yielding;
    const [gone] = at === -1 ? [] : drawn.splice(at, 1);
    if (gone === undefined) break;
    needed -= least(gone);
  }
  return { drawn, least };
}
