// Below a table: the number of rows, the selection, and two menus. One selects columns, their order and widths. The
// other saves rows as a file: the selected rows, or all that match the filter, read to the end (APP-11).

import { ArrowDown, ArrowUp, Columns3, Download, Minus, Plus, RotateCcw } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { formatCount } from '../charts/times.ts';
import { Announce } from '../feedback/live-changes.tsx';
import { toast } from '../feedback/toast.tsx';
import { Button, IconButton } from '../inputs/button.tsx';
import { download } from '../inputs/copy.tsx';
import { Menu } from '../inputs/menu.tsx';
import { Flyout } from '../layout/overlays.tsx';
import type { Column, ColumnChoice } from './column.ts';
import type { Selection } from './selection.ts';
import { toCsv, toJsonLines } from './table-export.ts';

export interface TableFootProps<Row> {
  readonly name: string;
  readonly choice: ColumnChoice<Row>;
  /** The columns that fit. */
  readonly drawn: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keys: readonly string[];
  readonly selection: Selection;
  readonly count: number;
  readonly total: number | null | undefined;
  readonly actions: ((selection: Selection, rows: readonly Row[]) => ReactNode) | undefined;
  readonly foot: ReactNode;
  readonly more: (() => void) | undefined;
}

const FOOT = 'flex min-h-9 shrink-0 flex-wrap items-center gap-2 border-t border-line px-2 py-1 text-sm text-muted';

export function TableFoot<Row>(props: TableFootProps<Row>): ReactNode {
  const { name, choice, drawn, rows, keys, selection, count, total, actions, foot, more } = props;
  const chosen = selection.keys.size === 0 ? [] : rows.filter((_row, at) => selection.keys.has(keys[at] ?? ''));
  const all = total ?? count;
  const isPart = more !== undefined && all <= count;
  const noun = all === 1 ? 'row' : 'rows';
  const words =
    chosen.length > 0
      ? `${selection.all ? formatCount(all) : formatCount(chosen.length)} chosen`
      : `${formatCount(count)}${all > count ? ` of ${formatCount(all)}` : ''} ${noun}${isPart ? ' so far' : ''}`;
  return (
    <div className={FOOT}>
      <span aria-hidden="true">{words}</span>
      <Announce text={words} />
      {chosen.length > 0 && (
        <>
          {!selection.all && chosen.length < all && (
            <Button look="ghost" onClick={selection.selectAll}>
              Select all {formatCount(all)} that match
            </Button>
          )}
          <Button look="ghost" onClick={selection.clear}>
            None
          </Button>
          {actions?.(selection, chosen)}
        </>
      )}
      <div className="min-w-0 flex-1">{foot}</div>
      <ExportMenu {...{ name, choice }} chosen={selection.all ? [] : chosen} loaded={rows} more={more} />
      <ColumnMenu choice={choice} drawn={drawn} />
    </div>
  );
}

const WIDTH_STEP = 24;

/** Everything that dragging a header does, for the keyboard too. */
function ColumnMenu<Row>({
  choice,
  drawn,
}: {
  readonly choice: ColumnChoice<Row>;
  readonly drawn: readonly Column<Row>[];
}): ReactNode {
  const squeezed = choice.visible.length - drawn.length;
  return (
    <Flyout
      label="Columns"
      className="w-72"
      trigger={
        <IconButton label={squeezed === 0 ? 'Columns' : `Columns: no room for ${squeezed}`} className="min-w-7 px-1">
          <Columns3 size={15} />
          {squeezed > 0 && <span className="text-xs">+{squeezed}</span>}
        </IconButton>
      }
    >
      <ul className="flex max-h-80 flex-col overflow-y-auto">
        {choice.all.map((column) => (
          <li key={column.id} className="flex items-center gap-1">
            <label className="flex min-w-0 flex-1 items-center gap-2 rounded-md px-1 py-1 hover:bg-hover">
              <input
                type="checkbox"
                checked={choice.isVisible(column.id)}
                onChange={() => choice.toggle(column.id)}
                className="accent-(--accent-fill)"
              />
              <span className="truncate">{column.header}</span>
              {choice.isVisible(column.id) && !drawn.includes(column) && (
                <span className="text-xs whitespace-nowrap text-faint">no room</span>
              )}
            </label>
            <ColumnSteps choice={choice} id={column.id} header={column.header} width={choice.widthOf(column)} />
          </li>
        ))}
      </ul>
      <Button look="ghost" className="mt-1 w-full" icon={<RotateCcw size={13} />} onClick={choice.reset}>
        Reset columns
      </Button>
    </Flyout>
  );
}

interface StepsProps<Row> {
  readonly choice: ColumnChoice<Row>;
  readonly id: string;
  readonly header: string;
  readonly width: number;
}

function ColumnSteps<Row>({ choice, id, header, width }: StepsProps<Row>): ReactNode {
  const steps = [
    { label: `Move ${header} left`, icon: <ArrowUp size={13} />, run: () => choice.move(id, -1) },
    { label: `Move ${header} right`, icon: <ArrowDown size={13} />, run: () => choice.move(id, 1) },
    { label: `Narrower ${header}`, icon: <Minus size={13} />, run: () => choice.resize(id, width - WIDTH_STEP) },
    { label: `Wider ${header}`, icon: <Plus size={13} />, run: () => choice.resize(id, width + WIDTH_STEP) },
  ];
  return steps.map(({ label, icon, run }) => (
    <IconButton key={label} label={label} onClick={run} className="size-6">
      {icon}
    </IconButton>
  ));
}

export interface ExportMenuProps<Row> {
  readonly name: string;
  readonly choice: ColumnChoice<Row>;
  /** Empty: everything that matches the filter is exported. */
  readonly chosen: readonly Row[];
  readonly loaded: readonly Row[];
  /** Reads the next page; undefined: all rows are loaded. */
  readonly more: (() => void) | undefined;
}

/** A number of rows that a browser holds easily. */
const EXPORTED_MAX = 100_000;

const FORMATS = {
  jsonl: { words: 'JSON lines', type: 'application/jsonl', print: toJsonLines },
  csv: { words: 'CSV', type: 'text/csv', print: toCsv },
} as const;
type Format = keyof typeof FORMATS;

function ExportMenu<Row>(props: ExportMenuProps<Row>): ReactNode {
  const { name, choice, chosen, loaded, more } = props;
  const [awaited, setAwaited] = useState<Format>();
  const write = (format: Format, rows: readonly Row[]): void => {
    const { type, print } = FORMATS[format];
    const ids = choice.visible.map(({ id }) => id);
    const cells = rows.map((row) => choice.visible.map((column) => column.text(row)));
    download(`${name}.${format}`, type, print(ids, cells));
  };
  useEffect(() => {
    if (awaited === undefined) return;
    if (more !== undefined && loaded.length < EXPORTED_MAX) return more();
    write(awaited, loaded);
    setAwaited(undefined);
    if (more === undefined) return;
    toast({
      tone: 'bad',
      text: `Only the first ${formatCount(loaded.length)} rows were exported. Filter the list to export fewer rows.`,
    });
  });
  if (awaited !== undefined) {
    return (
      <span className="flex items-center gap-2">
        Reading for the export: {formatCount(loaded.length)}
        <Button look="ghost" onClick={() => setAwaited(undefined)}>
          Stop
        </Button>
      </span>
    );
  }
  const what = chosen.length > 0 ? 'Selected rows' : more === undefined ? 'All rows' : 'All that match';
  return (
    <Menu
      trigger={
        <IconButton label="Export">
          <Download size={15} />
        </IconButton>
      }
      items={(['jsonl', 'csv'] as const).map((format) => ({
        label: `${what} as ${FORMATS[format].words}`,
        run: () => (chosen.length > 0 ? write(format, chosen) : setAwaited(format)),
      }))}
    />
  );
}
