// Draws the time column of the waterfall: only visible rows, so its cost does not grow with the trace.

import { barOf, mergeBlocks, type TimeScale, xOf } from '../../../kit/charts/time-scale.ts';
import { formatDuration } from '../../../kit/charts/times.ts';
import { FLAG, type TraceColumns } from '../logic/trace-columns.ts';
import { axisMarks, type Gap } from '../logic/trace-gaps.ts';
import type { Fold, Rows } from '../logic/trace-rows.ts';
import type { TraceView } from '../logic/trace-session.ts';
import type { CanvasSize } from './canvas.tsx';
import type { CanvasColours } from './colours.ts';

/** Segments by row, computed once for a trace rather than searched for each frame. */
export interface RowIndex {
  readonly path: ReadonlyMap<number, readonly (readonly [fromMs: number, toMs: number])[]>;
  readonly waits: ReadonlyMap<number, { readonly fromMs: number; readonly toMs: number; readonly isRetry: boolean }>;
  readonly logs: ReadonlyMap<number, readonly number[]>;
}

export function indexRows(view: TraceView, logs: readonly { readonly row: number; readonly ms: number }[]): RowIndex {
  const path = new Map<number, [number, number][]>();
  view.path.spans.forEach((row, at) => {
    const segment: [number, number] = [view.path.fromMs[at] ?? 0, view.path.toMs[at] ?? 0];
    const known = path.get(row);
    if (known === undefined) path.set(row, [segment]);
    else known.push(segment);
  });
  const waits = new Map<number, { fromMs: number; toMs: number; isRetry: boolean }>();
  view.waits.rows.forEach((row, at) => {
    const isRetry = view.waits.isRetry[at] === 1;
    waits.set(row, { fromMs: view.waits.fromMs[at] ?? 0, toMs: view.waits.toMs[at] ?? 0, isRetry });
  });
  const dots = new Map<number, number[]>();
  for (const { row, ms } of logs) dots.set(row, [...(dots.get(row) ?? []), ms]);
  return { path, waits, logs: dots };
}

export interface WaterfallPicture {
  readonly view: TraceView;
  readonly rows: Rows;
  readonly index: RowIndex;
  readonly colours: CanvasColours;
  readonly serviceColours: readonly string[];
  readonly range: { readonly fromMs: number; readonly toMs: number };
  readonly rowPx: number;
  readonly scrollTop: number;
  readonly selected: number | undefined;
  /** Rows that match the search; `null` while there is no search. */
  readonly found: Uint8Array | null;
  readonly showsPath: boolean;
}

export function drawWaterfall(context: CanvasRenderingContext2D, size: CanvasSize, picture: WaterfallPicture): void {
  const scale: TimeScale = { ...picture.range, widthPx: size.width };
  drawGrid(context, size, scale, picture.colours, picture.view.gaps);
  const first = Math.floor(picture.scrollTop / picture.rowPx);
  const last = Math.min(picture.rows.entries.length, Math.ceil((picture.scrollTop + size.height) / picture.rowPx));
  context.font = picture.colours.font;
  context.textBaseline = 'middle';
  for (let at = first; at < last; at += 1) {
    const top = at * picture.rowPx - picture.scrollTop;
    const entry = picture.rows.entries[at] ?? 0;
    const fold = entry < 0 ? picture.rows.folds[-1 - entry] : undefined;
    if (fold !== undefined) drawFold(context, scale, picture, fold, top);
    else drawSpan(context, scale, picture, entry, top);
  }
  context.globalAlpha = 1;
}

export function drawGrid(
  context: CanvasRenderingContext2D,
  size: CanvasSize,
  scale: TimeScale,
  colours: CanvasColours,
  gaps: readonly Gap[],
): void {
  context.fillStyle = colours.line;
  context.globalAlpha = 0.6;
  for (const { atMs } of axisMarks(scale, gaps)) context.fillRect(Math.round(xOf(scale, atMs)), 0, 1, size.height);
  context.globalAlpha = 0.35;
  for (const { shownFromMs, shownToMs } of gaps) {
    const from = xOf(scale, shownFromMs);
    context.fillRect(from, 0, Math.max(1, xOf(scale, shownToMs) - from), size.height);
  }
  context.globalAlpha = 1;
}

const BAR_PX = 12;
const PATH_PX = 2;

function drawSpan(
  context: CanvasRenderingContext2D,
  scale: TimeScale,
  picture: WaterfallPicture,
  row: number,
  top: number,
): void {
  const { columns } = picture.view;
  const { colours } = picture;
  const middle = top + picture.rowPx / 2;
  const flags = columns.flags[row] ?? 0;
  const isDimmed = picture.found !== null && picture.found[row] !== 1;
  if (row === picture.selected) {
    context.fillStyle = colours.selected;
    context.fillRect(0, top, scale.widthPx, picture.rowPx);
  }
  context.globalAlpha = isDimmed ? 0.3 : 1;
  drawWait(context, scale, picture, row, middle);
  const [start, end] = [columns.startMs[row] ?? 0, columns.endMs[row] ?? 0];
  const bar = barOf(scale, start, end);
  if (bar !== null) {
    const colour = picture.serviceColours[columns.serviceOf[row] ?? 0] ?? colours.muted;
    context.fillStyle = colour;
    if ((flags & FLAG.unknownParent) !== 0) {
      outline(context, bar.x, middle - BAR_PX / 2, bar.width, BAR_PX, colours.faint);
    } else if ((flags & FLAG.pending) !== 0) {
      drawPending(context, bar, middle, colour);
    } else {
      drawSides(context, scale, picture, row, bar, middle);
    }
    if ((flags & FLAG.error) !== 0) drawErrorMark(context, bar, middle, colours);
  }
  if (picture.showsPath) drawPath(context, scale, picture, row, middle);
  drawMarks(context, scale, picture, row, middle);
  drawLabel(context, scale, colours, withWait(scale, picture, row, bar), middle, labelOf(columns, row, flags));
  if (row === picture.selected && bar !== null) {
    outline(context, bar.x - 2, middle - BAR_PX / 2 - 2, bar.width + 4, BAR_PX + 4, colours.accent);
  }
}

function labelOf(columns: TraceColumns, row: number, flags: number): string {
  const ms = (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0);
  const innerMs = (columns.innerToMs[row] ?? Number.NaN) - (columns.innerFromMs[row] ?? Number.NaN);
  // Both times, where they differ enough to be of interest.
  const inWorker = ms - innerMs > Math.max(1, ms / 10) ? `, ${formatDuration(innerMs)} in the worker` : '';
  const text = `${formatDuration(ms)}${inWorker}`;
  const before = (flags & FLAG.startsBeforeParent) === 0 ? '' : '  ⚠ starts before its parent';
  return `${text}${(flags & FLAG.pending) === 0 ? '' : ' so far'}${before}`;
}

/** The time in the worker in full colour; the way there and back, and a wait for a place, lighter around it. */
function drawSides(
  context: CanvasRenderingContext2D,
  scale: TimeScale,
  { view: { columns } }: WaterfallPicture,
  row: number,
  bar: Bar,
  middle: number,
): void {
  const inner = barOf(scale, columns.innerFromMs[row] ?? Number.NaN, columns.innerToMs[row] ?? Number.NaN);
  if (inner === null || Number.isNaN(inner.x)) return rounded(context, bar.x, middle - BAR_PX / 2, bar.width, BAR_PX);
  context.globalAlpha *= OUTER_ALPHA;
  rounded(context, bar.x, middle - BAR_PX / 2, bar.width, BAR_PX);
  context.globalAlpha /= OUTER_ALPHA;
  rounded(context, inner.x, middle - BAR_PX / 2, inner.width, BAR_PX);
}

const OUTER_ALPHA = 0.4;

interface Bar {
  readonly x: number;
  readonly width: number;
}

/** The bar with the hatched part before it: a label must not be on either. */
function withWait(scale: TimeScale, picture: WaterfallPicture, row: number, bar: Bar | null): Bar | null {
  const wait = picture.index.waits.get(row);
  const before = wait === undefined ? null : barOf(scale, wait.fromMs, wait.toMs);
  if (bar === null || before === null) return bar;
  const x = Math.min(before.x, bar.x);
  return { x, width: bar.x + bar.width - x };
}

/** After the bar where there is room, otherwise inside it. */
function drawLabel(
  context: CanvasRenderingContext2D,
  scale: TimeScale,
  colours: CanvasColours,
  bar: Bar | null,
  middle: number,
  text: string,
): void {
  if (bar === null) return;
  const width = context.measureText(text).width;
  const right = bar.x + bar.width + 6;
  context.fillStyle = colours.muted;
  if (right + width < scale.widthPx) context.fillText(text, right, middle + 0.5);
  else if (bar.x - width - 6 > 0) context.fillText(text, bar.x - width - 6, middle + 0.5);
  else {
    context.fillStyle = colours.theme === 'dark' ? colours.ground : colours.panel;
    context.fillText(text, Math.max(6, bar.x + 6), middle + 0.5);
  }
}

function rounded(context: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  if (width < 4) {
    context.fillRect(x, y, width, height);
    return;
  }
  context.beginPath();
  context.roundRect(x, y, width, height, 2);
  context.fill();
}

function outline(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
): void {
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.beginPath();
  context.roundRect(x + 0.5, y + 0.5, Math.max(1, width - 1), height - 1, 3);
  context.stroke();
}

/** Fades out to the right: its end is not known yet. */
function drawPending(context: CanvasRenderingContext2D, bar: Bar, middle: number, colour: string): void {
  context.fillStyle = colour;
  context.globalAlpha *= 0.45;
  rounded(context, bar.x, middle - BAR_PX / 2, bar.width, BAR_PX);
  context.globalAlpha /= 0.45;
  outline(context, bar.x, middle - BAR_PX / 2, bar.width, BAR_PX, colour);
}

/** A frame with a thick left edge: a shape, not only a colour (ACC-2). */
function drawErrorMark(context: CanvasRenderingContext2D, bar: Bar, middle: number, colours: CanvasColours): void {
  context.fillStyle = colours.bad;
  context.fillRect(Math.max(0, bar.x - 1), middle - BAR_PX / 2 - 1, 5, BAR_PX + 2);
  if (bar.width > 8) outline(context, bar.x, middle - BAR_PX / 2, bar.width, BAR_PX, colours.bad);
}

function drawPath(
  context: CanvasRenderingContext2D,
  scale: TimeScale,
  picture: WaterfallPicture,
  row: number,
  middle: number,
): void {
  context.fillStyle = picture.colours.text;
  for (const [from, to] of picture.index.path.get(row) ?? []) {
    const bar = barOf(scale, from, to);
    if (bar !== null) context.fillRect(bar.x, middle + BAR_PX / 2 + 1.5, bar.width, PATH_PX);
  }
}

function drawMarks(
  context: CanvasRenderingContext2D,
  scale: TimeScale,
  picture: WaterfallPicture,
  row: number,
  middle: number,
): void {
  const { columns } = picture.view;
  context.fillStyle = picture.colours.text;
  for (let at = columns.eventFrom[row] ?? 0; at < (columns.eventFrom[row + 1] ?? 0); at += 1) {
    const x = xOf(scale, columns.eventMs[at] ?? 0);
    if (x >= 0 && x <= scale.widthPx) context.fillRect(x - 0.75, middle - BAR_PX / 2 - 3, 1.5, BAR_PX + 6);
  }
  context.fillStyle = picture.colours.warn;
  for (const ms of picture.index.logs.get(row) ?? []) {
    const x = xOf(scale, ms);
    if (x < 0 || x > scale.widthPx) continue;
    context.beginPath();
    context.arc(x, middle - BAR_PX / 2 - 3, 2, 0, Math.PI * 2);
    context.fill();
  }
}

/** Hatched: waiting, not running. */
function drawWait(
  context: CanvasRenderingContext2D,
  scale: TimeScale,
  picture: WaterfallPicture,
  row: number,
  middle: number,
): void {
  const wait = picture.index.waits.get(row);
  const bar = wait === undefined ? null : barOf(scale, wait.fromMs, wait.toMs);
  if (bar === null || wait === undefined) return;
  context.save();
  context.beginPath();
  context.rect(bar.x, middle - 4, bar.width, 8);
  context.clip();
  context.strokeStyle = wait.isRetry ? picture.colours.warn : picture.colours.faint;
  context.lineWidth = 1;
  context.beginPath();
  const gap = wait.isRetry ? 4 : 6;
  for (let x = bar.x - 8; x < bar.x + bar.width; x += gap) {
    context.moveTo(x, middle + 4);
    context.lineTo(x + 8, middle - 4);
  }
  context.stroke();
  context.restore();
}

/** The members of a fold on one line: blocks that share pixels count their spans (TRC-9). */
function drawFold(
  context: CanvasRenderingContext2D,
  scale: TimeScale,
  picture: WaterfallPicture,
  fold: Fold,
  top: number,
): void {
  const { columns } = picture.view;
  const middle = top + picture.rowPx / 2;
  const intervals = fold.members.map((row) => ({
    startMs: columns.startMs[row] ?? 0,
    endMs: columns.endMs[row] ?? 0,
  }));
  const isDimmed = picture.found !== null && !fold.members.some((row) => picture.found?.[row] === 1);
  context.globalAlpha = isDimmed ? 0.3 : 0.8;
  context.fillStyle = picture.serviceColours[columns.serviceOf[fold.members[0] ?? 0] ?? 0] ?? picture.colours.muted;
  const blocks = mergeBlocks(scale, intervals);
  for (const block of blocks) rounded(context, block.x, middle - BAR_PX / 2, block.width, BAR_PX);
  context.fillStyle = picture.colours.ground;
  for (const block of blocks) {
    if (block.count > 1 && block.width > 30) context.fillText(`×${block.count}`, block.x + 5, middle + 0.5);
  }
}
