// Which rows of the tree are open: by level, by hand, folded or not, and the "only" filters (TRC-5, TRC-8, TRC-10).

import { useMemo, useState } from 'react';
import { flip } from '../../flow/logic/flip.ts';
import { errorRows, type RowsView, visibleRows } from '../logic/trace-rows.ts';
import type { TraceView } from '../logic/trace-session.ts';

export interface RowsState {
  readonly rowsView: RowsView;
  readonly toggle: (row: number) => void;
  readonly toggleFold: (key: string) => void;
  /** Opens the rows that hide a row. */
  readonly reveal: (row: number) => void;
  readonly forget: () => void;
}

export function useRowsView(
  { columns, path }: TraceView,
  level: number | undefined,
  only: 'all' | 'errors' | 'path' | 'found',
  isFolding: boolean,
  found: Uint8Array | null,
): RowsState {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [openFolds, setOpenFolds] = useState<ReadonlySet<string>>(new Set());
  const rowsView: RowsView = useMemo(() => {
    const shown = { all: null, errors: errorRows(columns), path: path.isOnPath, found }[only];
    // Matches are shown one by one, wherever they are (TRC-8).
    return { level: level ?? null, toggled, openFolds, isFolding: isFolding && only === 'all', only: shown };
  }, [columns, path, level, only, isFolding, toggled, openFolds, found]);
  return {
    rowsView,
    toggle: (row) => setToggled((now) => flip(now, columns.ids[row] ?? '')),
    toggleFold: (key) => setOpenFolds((now) => flip(now, key)),
    reveal: (row) => {
      const opened = new Set(toggled);
      for (let at = columns.parent[row] ?? -1; at !== -1; at = columns.parent[at] ?? -1) {
        const id = columns.ids[at] ?? '';
        const isOpenByLevel = level === undefined || (columns.depth[at] ?? 0) < level;
        if (isOpenByLevel) opened.delete(id);
        else opened.add(id);
      }
      setToggled(opened);
      const hiding = visibleRows(columns, { ...rowsView, toggled: opened }).folds.find((fold) =>
        fold.members.includes(row),
      );
      if (hiding !== undefined && !hiding.isOpen) setOpenFolds((now) => new Set(now).add(hiding.key));
    },
    forget: () => setToggled(new Set()),
  };
}
