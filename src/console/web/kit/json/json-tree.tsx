// A read-only JSON value: folded, searched and copied in parts, with every number as it is stored (JSN-2 to JSN-4).
// Only the visible rows are in the document.

import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight, Copy, Link2 } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useId, useMemo, useRef, useState } from 'react';
import { formatBytes, formatCount } from '../charts/times.ts';
import { Loading } from '../feedback/empty-state.tsx';
import { Button, IconButton } from '../inputs/button.tsx';
import { copyText, download } from '../inputs/copy.tsx';
import { Input } from '../inputs/field.tsx';
import { classes } from '../layout/classes.ts';
import { JSON_ROWS_MAX, type JsonRow } from './logic/json-rows.ts';
import { type JsonNode, sourceOf } from './logic/json-source.ts';
import { visibleText } from './logic/visible-text.ts';
import { useJsonRows, useJsonSource } from './use-json-source.ts';

export interface JsonTreeProps {
  /** What it is, for labels and file names. */
  readonly label: string;
  /** The value as it is stored. */
  readonly text: string;
  /** How many levels are unfolded at first. */
  readonly depth?: number;
  readonly maxHeight?: number;
  readonly tools?: boolean;
}

const ROW_PX = 20;
/** A larger value is shown as its beginning and its size, with a download (JSN-3). */
const TREE_CHARS_MAX = 4 * 1_024 * 1_024;
/** A larger tree starts folded. */
const UNFOLDED_CHARS_MAX = 256 * 1_024;
const HEAD_CHARS = 4_096;
const STRING_CHARS_MAX = 400;
const BOX = 'rounded-md border border-line bg-ground';

export function JsonTree(props: JsonTreeProps): ReactNode {
  const { text } = props;
  return text.length > TREE_CHARS_MAX ? <Head {...props} /> : <WholeTree {...props} />;
}

function WholeTree(props: JsonTreeProps): ReactNode {
  const { text, label, depth } = props;
  const root = useJsonSource(text);
  if (root === undefined) return <Loading what={`the ${label}`} rows={3} />;
  if (root === 'no-json') return <Head {...props} />;
  const isLong = text.length > UNFOLDED_CHARS_MAX;
  return <Tree {...props} root={root} {...(isLong ? { depth: 1 } : depth !== undefined && { depth })} />;
}

function Head({ text, label }: JsonTreeProps): ReactNode {
  return (
    <div className="flex flex-col gap-2">
      <pre className={`max-h-80 overflow-auto p-2 text-sm break-all whitespace-pre-wrap ${BOX}`}>
        {visibleText(text.slice(0, HEAD_CHARS))}
      </pre>
      {text.length > HEAD_CHARS && (
        <p className="flex items-center gap-2 text-muted">
          The first {formatBytes(HEAD_CHARS)} of {formatBytes(new Blob([text]).size)}.
          <Button onClick={() => download(`${label}.json`, 'application/json', text)}>Download the whole value</Button>
        </p>
      )}
    </div>
  );
}

function Tree(props: JsonTreeProps & { readonly root: JsonNode }): ReactNode {
  const { root, text, label, depth = 2, maxHeight = 420, tools = true } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const treeId = useId();
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [toDepth, setToDepth] = useState(depth);
  const [filter, setFilter] = useState('');
  const [active, setActive] = useState(0);
  const options = useMemo(() => {
    const isOpen = (path: string, at: number): boolean =>
      (folds.size === 0 ? undefined : folds.get(path)) ?? at < toDepth;
    return { isOpen, filter: filter.toLowerCase(), text };
  }, [text, folds, toDepth, filter]);
  const { rows: found, isOld } = useJsonRows(root, options);
  const rows = found?.rows ?? NO_ROWS;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
  });
  const fold = (row: JsonRow, open: boolean): void => {
    if (row.open !== undefined) setFolds(new Map(folds).set(row.path, open));
  };
  const foldAll = (to: number): void => {
    setFolds(new Map());
    setToDepth(to);
  };
  const onKeyDown = treeKeys({ rows, active, fold, go: (to) => [setActive(to), virtual.scrollToIndex(to)] });
  const isDeep = root.kind === 'object' || root.kind === 'array';
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {tools && isDeep && <TreeTools {...{ label, text, filter, setFilter, foldAll }} />}
      <div
        ref={scroller}
        role="tree"
        aria-label={label}
        aria-busy={isOld}
        aria-activedescendant={`${treeId}-${active}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        className={`group/tree overflow-auto py-1 font-mono text-sm ${BOX}`}
        style={{ maxHeight }}
      >
        <div role="none" className="relative min-w-max" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const row = rows[index];
            return row === undefined ? undefined : (
              <TreeRow
                key={key}
                {...{ row, text, start }}
                id={`${treeId}-${index}`}
                isActive={index === active}
                toggle={() => fold(row, row.open !== true)}
              />
            );
          })}
          {rows.length === 0 && !isOld && <p className="px-2 text-muted">No key or value contains that text.</p>}
        </div>
      </div>
      {found?.isCut === true && (
        <p className="text-sm text-muted">
          Only the first {formatCount(JSON_ROWS_MAX)} rows are shown. Fold values or search to see the rest.
        </p>
      )}
    </div>
  );
}

const NO_ROWS: readonly JsonRow[] = [];

interface TreeToolsProps {
  readonly label: string;
  readonly text: string;
  readonly filter: string;
  readonly setFilter: (filter: string) => void;
  readonly foldAll: (toDepth: number) => void;
}

const EVERY_LEVEL = 100_000;

function TreeTools({ label, text, filter, setFilter, foldAll }: TreeToolsProps): ReactNode {
  return (
    <div className="flex items-center gap-1">
      <Input
        aria-label={`Find in ${label}`}
        placeholder="Find…"
        value={filter}
        onChange={(event) => setFilter(event.target.value)}
        className="h-6 w-32 text-sm"
      />
      <Button look="ghost" className="h-6" onClick={() => foldAll(1)}>
        Fold all
      </Button>
      <Button look="ghost" className="h-6" onClick={() => foldAll(EVERY_LEVEL)}>
        Unfold all
      </Button>
      <span className="flex-1" />
      <IconButton label={`Copy ${label}`} className="size-6" onClick={() => void copyText(text, label)}>
        <Copy size={13} />
      </IconButton>
    </div>
  );
}

interface TreeMoves {
  readonly rows: readonly JsonRow[];
  readonly active: number;
  readonly fold: (row: JsonRow, open: boolean) => void;
  readonly go: (to: number) => void;
}

/** The keys that every tree has. */
function treeKeys({ rows, active, fold, go }: TreeMoves): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    const row = rows[active];
    if (row === undefined) return;
    const upwards = (): number => rows.findLastIndex(({ depth }, at) => at < active && depth < row.depth);
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => go(Math.min(active + 1, rows.length - 1)),
      ArrowUp: () => go(Math.max(active - 1, 0)),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      ArrowRight: () => (row.open === false ? fold(row, true) : go(Math.min(active + 1, rows.length - 1))),
      ArrowLeft: () => (row.open === true ? fold(row, false) : go(Math.max(upwards(), 0))),
      Enter: () => fold(row, row.open !== true),
    };
    const move = moves[event.key];
    if (move === undefined || event.target !== event.currentTarget) return;
    event.preventDefault();
    event.stopPropagation();
    event.nativeEvent.stopImmediatePropagation();
    move();
  };
}

interface TreeRowProps {
  readonly row: JsonRow;
  readonly text: string;
  readonly start: number;
  readonly id: string;
  readonly isActive: boolean;
  readonly toggle: () => void;
}

function TreeRow({ row, text, start, id, isActive, toggle }: TreeRowProps): ReactNode {
  const { node, open, label, depth, duplicate, path, count } = row;
  return (
    <div
      role="treeitem"
      id={id}
      tabIndex={-1}
      aria-level={depth + 1}
      aria-expanded={open}
      aria-selected={false}
      className={classes(
        'group absolute top-0 left-0 flex h-5 w-full items-center gap-1 pr-2 whitespace-pre hover:bg-hover',
        isActive && 'group-focus-visible/tree:bg-selected',
      )}
      style={{ transform: `translateY(${start}px)`, paddingLeft: depth * 14 + 4 }}
    >
      {open === undefined ? (
        <span className="w-4 shrink-0" />
      ) : (
        <button
          type="button"
          tabIndex={-1}
          aria-label={open ? 'Fold' : 'Unfold'}
          onClick={toggle}
          className="w-4 shrink-0 text-faint"
        >
          {open ? <ChevronDown size={13} /> : <ChevronRight size={13} />}
        </button>
      )}
      {label !== undefined && (
        <span
          className={classes('max-w-[60%] shrink-0 truncate', typeof label === 'number' ? 'text-faint' : 'text-accent')}
        >
          {label === '' ? '""' : typeof label === 'number' ? label : visibleText(label)}
          <span className="text-faint">: </span>
        </span>
      )}
      {duplicate && <span className="rounded-sm bg-warn-soft px-1 text-warn">duplicate key</span>}
      <ValueText node={node} text={text} open={open} count={count} />
      <span className="flex opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
        <IconButton
          label="Copy value"
          tabIndex={-1}
          className="size-5"
          onClick={() => void copyText(sourceOf(text, node), 'value')}
        >
          <Copy size={11} />
        </IconButton>
        <IconButton label="Copy path" tabIndex={-1} className="size-5" onClick={() => void copyText(path, 'path')}>
          <Link2 size={11} />
        </IconButton>
      </span>
    </div>
  );
}

const COLOURS = { string: 'text-good', number: 'text-warn', boolean: 'text-violet', null: 'text-violet' } as const;

function ValueText({
  node,
  text,
  open,
  count,
}: {
  readonly node: JsonNode;
  readonly text: string;
  readonly open: boolean | undefined;
  readonly count: number;
}): ReactNode {
  if (node.kind === 'object' || node.kind === 'array') {
    const [head, tail] = node.kind === 'object' ? ['{', '}'] : ['[', ']'];
    if (open === undefined) return <span className="text-muted">{`${head}${tail}`}</span>;
    return (
      <span className="text-muted">
        {open ? head : `${head}…${tail}`} <span className="text-faint">{formatCount(count)}</span>
      </span>
    );
  }
  const source = sourceOf(text, node);
  const isLong = source.length > STRING_CHARS_MAX;
  return (
    <span className={classes('select-text', COLOURS[node.kind])}>
      {visibleText(isLong ? source.slice(0, STRING_CHARS_MAX) : source)}
      {isLong && <span className="text-muted">{` … ${formatCount(source.length)} characters`}</span>}
    </span>
  );
}
