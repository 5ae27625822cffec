// Names of spans in the words of the product. Only what is shown changes: stored and exported spans, and what sampling
// rules match, keep their names.

import type { TraceColumns } from './trace-columns.ts';
import { spanKind } from './trace-span.ts';

export function rowWords(columns: TraceColumns, row: number): string {
  return spanWords(nameAt(columns, row), !hasHandlerBelow(columns, row));
}

function nameAt({ names, nameOf }: TraceColumns, row: number): string {
  return names[nameOf[row] ?? 0] ?? '';
}

function hasHandlerBelow(columns: TraceColumns, row: number): boolean {
  const end = columns.subtreeEnd[row] ?? 0;
  for (let child = row + 1; child < end; child = columns.subtreeEnd[child] ?? end) {
    if (spanKind(nameAt(columns, child)) === 'execute') return true;
  }
  return false;
}

/** `isStep`: no other row is about the same step, so that the function's id is enough. */
export function spanWords(name: string, isStep: boolean): string {
  const rest = name.slice(name.indexOf(' ') + 1);
  switch (spanKind(name)) {
    case 'call':
      return isStep ? rest : `Call ${rest}`;
    case 'execute':
      return `Run ${rest}`;
    case 'queue':
      return `Job of ${rest}`;
    case 'enqueue':
      return `Enqueue ${rest}`;
    case 'trigger':
      return `Trigger ${rest}`;
    default:
      return name;
  }
}
