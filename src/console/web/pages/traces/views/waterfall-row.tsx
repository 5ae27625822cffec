// One row of the waterfall: a span or a fold of similar spans. It covers the canvas, so that all of it can be clicked.

import { ChevronDown, ChevronRight, CircleAlert, Route } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatCount, formatDuration } from '../../../kit/charts/times.ts';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import { classes } from '../../../kit/layout/classes.ts';
import { rowWords } from '../logic/span-words.ts';
import { FLAG } from '../logic/trace-columns.ts';
import { realMs } from '../logic/trace-gaps.ts';
import { type Fold, hasChildren, isOpen, type Rows, type RowsView } from '../logic/trace-rows.ts';
import type { TraceView } from '../logic/trace-session.ts';

export const WATERFALL_ROW_PX = 26;

/** The same for all rows. */
export interface SharedRowProps {
  readonly view: TraceView;
  readonly rows: Rows;
  readonly rowsView: RowsView;
  readonly serviceColours: readonly string[];
  readonly selected: number | undefined;
  readonly onToggle: (row: number) => void;
  readonly onToggleFold: (key: string) => void;
  readonly onLoadBelow: (row: number) => void;
  readonly found: Uint8Array | null;
  readonly showsPath: boolean;
  /** Values of attributes added as columns, by key. */
  readonly attributeColumns: readonly { readonly key: string; readonly values: readonly (string | null)[] }[];
}

export interface WaterfallRowProps extends SharedRowProps {
  readonly id: string;
  readonly at: number;
  readonly top: number;
  readonly nameWidth: number;
  readonly isActive: boolean;
  readonly activate: () => void;
}

const INDENT_PX = 14;
/** Where the names have little room, the indentation is small. */
const NARROW_INDENT_PX = 6;
/** Deeper rows keep this much room for their name: `aria-level` and the rows above show the depth. */
const NAME_PX_MIN = 96;
/** Below this width, only the name is shown. The rest is in the title and for screen readers. */
const NARROW_PX = 220;

export function WaterfallRow(props: WaterfallRowProps): ReactNode {
  const { rows, at, id, top, isActive, selected, found } = props;
  const entry = rows.entries[at] ?? 0;
  const fold = entry < 0 ? rows.folds[-1 - entry] : undefined;
  const isOpenRow = fold?.isOpen ?? (entry >= 0 && isOpen(props.view.columns, props.rowsView, entry));
  const isParent = fold !== undefined || hasChildren(props.view.columns, entry) || isUnloaded(props, entry);
  const isFound = found === null || (fold?.members.some((row) => found[row] === 1) ?? found[entry] === 1);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter shows the active row
    <div
      role="row"
      id={id}
      aria-rowindex={at + 1}
      aria-level={(rows.depths[at] ?? 0) + 1}
      aria-expanded={isParent ? isOpenRow : undefined}
      aria-selected={entry >= 0 && entry === selected}
      onClick={() => (fold === undefined ? props.activate() : props.onToggleFold(fold.key))}
      className={classes(
        'group absolute inset-x-0 grid cursor-pointer items-center',
        isActive && 'shadow-[inset_2px_0_0_var(--accent)]',
      )}
      style={{
        height: WATERFALL_ROW_PX,
        transform: `translateY(${top}px)`,
        gridTemplateColumns: `${props.nameWidth}px minmax(0, 1fr)`,
      }}
    >
      <div
        role="gridcell"
        className={classes(
          'flex h-full min-w-0 items-center gap-1 pr-2 group-hover:bg-hover',
          entry >= 0 && entry === selected && 'bg-selected',
          !isFound && 'text-faint',
        )}
      >
        <Indent {...props} />
        <Opener {...props} entry={entry} fold={fold} isOpen={isOpenRow} isParent={isParent} />
        {fold === undefined ? <SpanName {...props} row={entry} /> : <FoldName fold={fold} />}
      </div>
      <div role="gridcell" className="flex h-full min-w-0 justify-end">
        {fold === undefined && <AttributeCells {...props} row={entry} />}
        <span className="sr-only">{fold === undefined ? describe(props, entry) : foldWords(fold)}</span>
      </div>
    </div>
  );
}

function isUnloaded({ view }: SharedRowProps, row: number): boolean {
  return row >= 0 && ((view.columns.flags[row] ?? 0) & FLAG.unloaded) !== 0;
}

function Indent({ rows, at, nameWidth }: WaterfallRowProps): ReactNode {
  const depth = rows.depths[at] ?? 0;
  const step = nameWidth < NARROW_PX ? NARROW_INDENT_PX : INDENT_PX;
  const width = Math.min(depth * step, Math.max(0, nameWidth - NAME_PX_MIN));
  return <span aria-hidden className="h-full shrink-0" style={{ width: width + 6 }} />;
}

interface OpenerProps extends WaterfallRowProps {
  readonly entry: number;
  readonly fold: Fold | undefined;
  readonly isOpen: boolean;
  readonly isParent: boolean;
}

function Opener({ entry, fold, isOpen: open, isParent, ...props }: OpenerProps): ReactNode {
  if (!isParent) return <span className="w-4 shrink-0" />;
  const Icon = open && !isUnloaded(props, entry) ? ChevronDown : ChevronRight;
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={open ? 'Close' : 'Open'}
      className="flex w-4 shrink-0 justify-center rounded-sm text-faint hover:text-text"
      onClick={(event) => {
        event.stopPropagation();
        if (fold !== undefined) props.onToggleFold(fold.key);
        else if (isUnloaded(props, entry)) props.onLoadBelow(entry);
        else props.onToggle(entry);
      }}
    >
      <Icon size={13} />
    </button>
  );
}

function SpanName({
  view,
  rowsView,
  serviceColours,
  showsPath,
  row,
  nameWidth,
}: WaterfallRowProps & { readonly row: number }): ReactNode {
  const { columns, path } = view;
  const flags = columns.flags[row] ?? 0;
  const service = columns.services[columns.serviceOf[row] ?? 0] ?? '';
  const name = rowWords(columns, row);
  const isClosed = hasChildren(columns, row) && !isOpen(columns, rowsView, row);
  const hiddenErrors = isClosed ? (columns.errorsBelow[row] ?? 0) - (flags & FLAG.error ? 1 : 0) : 0;
  if ((flags & FLAG.unknownParent) !== 0) {
    return (
      <span className="min-w-0 truncate text-faint italic" title={`The span ${columns.ids[row]} never arrived`}>
        unknown parent
      </span>
    );
  }
  return (
    <>
      <span
        aria-hidden
        className="size-2 shrink-0 rounded-[2px]"
        style={{ background: serviceColours[columns.serviceOf[row] ?? 0] }}
      />
      <span
        className={classes('min-w-0 truncate whitespace-pre', (flags & FLAG.error) !== 0 && 'text-bad')}
        title={`${visibleText(service)} · ${visibleText(name)}`}
      >
        {visibleText(name)}
      </span>
      {nameWidth > NARROW_PX && (
        <span className="min-w-0 shrink-[4] truncate text-xs text-faint">{visibleText(service)}</span>
      )}
      {(flags & FLAG.error) !== 0 && <CircleAlert size={12} className="shrink-0 text-bad" aria-label="Error" />}
      {hiddenErrors > 0 && <span className="shrink-0 text-xs text-bad">{hiddenErrors} errors below</span>}
      {showsPath && nameWidth > NARROW_PX && path.isOnPath[row] === 1 && (
        <Route size={11} className="shrink-0 text-muted" aria-label="On the critical path" />
      )}
      {isClosed && (
        <span className="shrink-0 rounded-sm bg-raised px-1 text-xs text-muted">
          {formatCount((columns.subtreeEnd[row] ?? 0) - row - 1)}
        </span>
      )}
    </>
  );
}

function FoldName({ fold }: { readonly fold: Fold }): ReactNode {
  return (
    <>
      <span className="min-w-12 truncate whitespace-pre text-muted" title={foldWords(fold)}>
        {visibleText(fold.label)}
      </span>
      <span className="shrink-0 rounded-sm bg-accent-soft px-1 text-xs font-medium text-accent">
        ×{formatCount(fold.members.length)}
      </span>
      <span className="min-w-0 shrink-[30] truncate text-xs text-faint">
        {formatDuration(fold.totalMs)} · p50 {formatDuration(fold.p50Ms)} · max {formatDuration(fold.maxMs)}
      </span>
      {fold.errorCount > 0 && <span className="shrink-0 text-xs text-bad">{fold.errorCount} errors</span>}
    </>
  );
}

function AttributeCells({ attributeColumns, row }: WaterfallRowProps & { readonly row: number }): ReactNode {
  const shown = attributeColumns.flatMap(({ key, values }) => {
    const value = values[row];
    return value === null || value === undefined ? [] : [{ key, value }];
  });
  if (shown.length === 0) return undefined;
  return (
    <span className="flex max-w-1/2 items-center gap-1 overflow-hidden pr-2">
      {shown.map(({ key, value }) => (
        <span key={key} title={key} className="truncate rounded-sm bg-raised px-1 font-mono text-xs text-muted">
          {visibleText(value)}
        </span>
      ))}
    </span>
  );
}

/** The content of the canvas, in words (ACC). */
function describe({ view }: WaterfallRowProps, row: number): string {
  const { columns, path } = view;
  const flags = columns.flags[row] ?? 0;
  const words = [
    `starts at ${formatDuration(realMs(view.gaps, columns.startMs[row] ?? 0))}`,
    `takes ${formatDuration((columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0))}`,
    `${formatDuration(columns.selfMs[row] ?? 0)} of its own`,
  ];
  if ((flags & FLAG.error) !== 0) words.push('failed');
  if ((flags & FLAG.pending) !== 0) words.push('has not ended');
  if ((flags & FLAG.startsBeforeParent) !== 0) words.push('starts before its parent');
  if ((flags & FLAG.outlivesParent) !== 0) words.push('ends after its parent');
  const innerMs = (columns.innerToMs[row] ?? Number.NaN) - (columns.innerFromMs[row] ?? Number.NaN);
  if (!Number.isNaN(innerMs)) words.push(`${formatDuration(innerMs)} in the worker`);
  if (path.isOnPath[row] === 1) words.push('on the critical path');
  return words.join(', ');
}

function foldWords(fold: Fold): string {
  const figures = `p50 ${formatDuration(fold.p50Ms)}, max ${formatDuration(fold.maxMs)}`;
  const alike = `${fold.members.length} similar spans, ${formatDuration(fold.totalMs)} in total`;
  return `${visibleText(fold.label)}: ${alike}, ${figures}`;
}
