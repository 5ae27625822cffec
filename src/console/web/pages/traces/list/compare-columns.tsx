// Columns for two traces side by side.

import type { ReactNode } from 'react';
import { formatDuration } from '../../../kit/charts/times.ts';
import { Status, type Tone } from '../../../kit/feedback/status.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import type { Column } from '../../../kit/table/column.ts';
import type { ComparedSpan, SpanChange } from '../logic/trace-compare.ts';

/** Its index in the whole comparison is its key: names are not unique. */
export type Line = ComparedSpan & { readonly key: string };

export function keyedLines(compared: readonly ComparedSpan[]): readonly Line[] {
  return compared.map((line, at) => ({ ...line, key: String(at) }));
}

const CHANGES: Readonly<Record<SpanChange, { readonly tone: Tone; readonly word: string }>> = {
  same: { tone: 'idle', word: 'Same' },
  slower: { tone: 'bad', word: 'Slower' },
  faster: { tone: 'good', word: 'Faster' },
  added: { tone: 'busy', word: 'Added' },
  missing: { tone: 'warn', word: 'Missing' },
};

const INDENT_PX = 14;
const INDENTS_MAX = 20;

export const COMPARE_COLUMNS: readonly Column<Line>[] = [
  {
    id: 'change',
    header: 'Change',
    width: 110,
    keeps: true,
    cell: ({ change }) => <Status {...CHANGES[change]} />,
    text: ({ change }) => change,
  },
  { id: 'span', header: 'Span', width: 320, grow: 3, keeps: true, cell: spanCell, text: ({ name }) => name },
  {
    id: 'service',
    header: 'Service',
    width: 140,
    cell: ({ service }) => <span className="truncate">{visibleText(service)}</span>,
    text: ({ service }) => service,
  },
  {
    id: 'before',
    header: 'Other trace',
    width: 110,
    align: 'right',
    cell: ({ beforeMs }) => durationOr(beforeMs),
    text: ({ beforeMs }) => beforeMs ?? null,
  },
  {
    id: 'after',
    header: 'This trace',
    width: 110,
    align: 'right',
    cell: ({ afterMs }) => durationOr(afterMs),
    text: ({ afterMs }) => afterMs ?? null,
  },
  {
    id: 'difference',
    header: 'Difference',
    width: 120,
    align: 'right',
    cell: (line) => {
      const moreMs = differenceMs(line);
      if (moreMs === undefined) return '–';
      return `${moreMs < 0 ? '−' : '+'}${formatDuration(Math.abs(moreMs))}`;
    },
    text: (line) => differenceMs(line) ?? null,
  },
];

function spanCell({ name, depth, change }: Line): ReactNode {
  return (
    <span
      className={change === 'missing' ? 'truncate text-muted line-through' : 'truncate'}
      style={{ paddingLeft: Math.min(depth, INDENTS_MAX) * INDENT_PX }}
    >
      {visibleText(name)}
    </span>
  );
}

function durationOr(ms: number | undefined): string {
  return ms === undefined ? '–' : formatDuration(ms);
}

function differenceMs({ beforeMs, afterMs }: Line): number | undefined {
  return beforeMs === undefined || afterMs === undefined ? undefined : afterMs - beforeMs;
}
