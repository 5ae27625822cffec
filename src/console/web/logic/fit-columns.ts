// Which columns of a table are drawn where there is little room: beside an open detail, on a phone. A row that ends in
// half a column helps nobody.

export interface FittedColumn {
  readonly id: string;
  readonly grow?: number;
  /** The last to give way. */
  readonly keeps?: boolean;
  /** The first to give way, wherever it stands: something else says the same. */
  readonly yields?: boolean;
}

export interface FitChoice<C extends FittedColumn> {
  readonly visible: readonly C[];
  readonly widthOf: (column: C) => number;
  /** The user chose it or its width: it does not give way. */
  readonly isOwn: (id: string) => boolean;
}

export interface Fit<C extends FittedColumn> {
  /** What is drawn. */
  readonly drawn: readonly C[];
  /** The narrowest that each may become. */
  readonly least: (column: C) => number;
}

/** A column that grows may also become smaller than it was meant to be. */
const SHRINKS_TO = 0.6;
/** Fewer are no table. */
const COLUMNS_MIN = 2;

/** From the right, those that neither the page nor the user holds to be important. No room known: all of them. */
export function fitColumns<C extends FittedColumn>(choice: FitChoice<C>, roomPx: number): Fit<C> {
  const least = (column: C): number => {
    const width = choice.widthOf(column);
    return column.grow === undefined || choice.isOwn(column.id) ? width : Math.round(width * SHRINKS_TO);
  };
  const drawn = [...choice.visible];
  let needed = drawn.reduce((sum, column) => sum + least(column), 0);
  while (roomPx > 0 && needed > roomPx && drawn.length > COLUMNS_MIN) {
    const mayGo = ({ id, keeps }: C): boolean => keeps !== true && !choice.isOwn(id);
    const yielding = drawn.findIndex((column) => column.yields === true && mayGo(column));
    const at = yielding === -1 ? drawn.findLastIndex((column, index) => index > 0 && mayGo(column)) : yielding;
    const [gone] = at === -1 ? [] : drawn.splice(at, 1);
    if (gone === undefined) break;
    needed -= least(gone);
  }
  return { drawn, least };
}
