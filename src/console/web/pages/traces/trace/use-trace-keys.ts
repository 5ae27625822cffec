// Keys inside a trace (console 3.1): zoom, pan, matches, errors.

import { useKeys } from '../../../app/keys.ts';
import { panned, type TimeRange, zoomed } from '../../../kit/charts/time-scale.ts';
import { FLAG } from '../logic/trace-columns.ts';
import type { TraceView } from '../logic/trace-session.ts';
import type { Find } from './use-find.ts';

export interface TraceKeys {
  readonly view: TraceView;
  readonly range: TimeRange;
  readonly whole: TimeRange;
  readonly setRange: (range: TimeRange) => void;
  readonly selected: number | undefined;
  readonly select: (row: number) => void;
  readonly find: Find;
}

const ZOOM_STEP = 1.5;
const PAN_SHARE = 0.2;

export function useTraceKeys({ view, range, whole, setRange, selected, select, find }: TraceKeys): void {
  const zoom = (factor: number): void => setRange(zoomed(range, whole, (range.fromMs + range.toMs) / 2, factor));
  const pan = (share: number): void => setRange(panned(range, whole, share * (range.toMs - range.fromMs)));
  const go = (row: number | undefined): void => {
    if (row !== undefined) select(row);
  };
  useKeys([
    { keys: ['w'], name: 'Zoom in', run: () => zoom(1 / ZOOM_STEP) },
    { keys: ['s'], name: 'Zoom out', run: () => zoom(ZOOM_STEP) },
    { keys: ['a'], name: 'Earlier', run: () => pan(-PAN_SHARE) },
    { keys: ['d'], name: 'Later', run: () => pan(PAN_SHARE) },
    { keys: ['0'], name: 'The whole trace', run: () => setRange(whole) },
    { keys: ['f'], name: 'Next match', run: () => go(find.next(selected, 1)) },
    { keys: ['b'], name: 'Previous match', run: () => go(find.next(selected, -1)) },
    { keys: ['shift+E'], name: 'Next error', run: () => go(nextError(view, selected)) },
  ]);
}

export function nextError({ columns }: TraceView, selected: number | undefined): number | undefined {
  for (let tried = 1; tried <= columns.count; tried += 1) {
    const row = ((selected ?? -1) + tried) % columns.count;
    if (((columns.flags[row] ?? 0) & FLAG.error) !== 0) return row;
  }
  return undefined;
}
