// Calls by function over time: counters, so that a rate does not depend on which spans happen to be stored (O8). Also
// of the connections between functions and what they call.
//
// Four levels, from five seconds to an hour. A window is answered from the finest level that reaches back far enough,
// on one grid of equal points. Bounded by the retention of each level, and by the number of cells: beyond it the oldest
// bucket of the fullest level leaves, and the level reaches back less far.

import { CallCell, type CallPoint, type CallSums, type CallsOf, pointAt, pointsOf } from './call-cell.ts';
import { ROLLUP_LEVELS, type RollupLevel } from './rollup.ts';

export interface CallWindow {
  /** Unix milliseconds; the points share this time equally. */
  readonly start_ms: number;
  readonly end_ms: number;
  readonly step_ms: number;
  /** When counting began, if that is within the window. */
  readonly since_ms: number | null;
  /** The level that it is answered from, 0 the finest. */
  readonly level: number;
}

export interface RowParts {
  readonly withPoints: boolean;
  /** They are merged with those of other engines. */
  readonly withHistograms?: boolean;
}

const SUMS_ONLY: RowParts = { withPoints: false };

export interface SeriesRow extends CallSums {
  readonly id: string;
  /** Oldest first; empty unless points were asked for. */
  readonly points: readonly CallPoint[];
}

const FIVE_SECONDS = { bucketMs: 5_000, retentionMs: 15 * 60_000 } as const;
const LEVELS: readonly RollupLevel[] = [FIVE_SECONDS, ...ROLLUP_LEVELS];
/** Some 250 bytes each. */
const CELLS_MAX = 200_000;
/** Senders choose the callers of connections; further ids of a bucket are not counted. */
const IDS_PER_BUCKET_MAX = 8_192;

export class CallSeries {
  readonly #levels = LEVELS.map((level) => new Level(level));
  readonly #cellsMax: number;
  #startedMs: number;
  #cells = 0;

  constructor(startedMs: number, cellsMax = CELLS_MAX) {
    this.#startedMs = startedMs;
    this.#cellsMax = cellsMax;
  }

  add(id: string, counts: CallsOf, nowMs: number): void {
    // The clock was set back: what was counted lies in the future.
    if (nowMs < this.#startedMs) this.#startedMs = nowMs;
    for (const level of this.#levels) this.#cells += level.add(id, counts, nowMs);
    while (this.#cells > this.#cellsMax) this.#cells -= this.#fullest().dropOldest();
  }

  expire(nowMs: number): void {
    for (const level of this.#levels) this.#cells -= level.expire(nowMs);
  }

  /** The grid for a window, which begins and ends at whole steps. `points`: about how many; 0: for sums only. */
  window(startMs: number, endMs: number, points: number): CallWindow {
    const at = this.#levelFor(startMs);
    const level = this.#level(at);
    const { bucketMs } = level.level;
    const step = points === 0 ? bucketMs : Math.max(1, Math.round((endMs - startMs) / points / bucketMs)) * bucketMs;
    const end = Math.ceil((endMs + 1) / step) * step;
    // Sums cover all of the time that was asked for; points are as many as were asked for.
    const length = points === 0 ? Math.ceil((end - startMs) / step) : Math.round((endMs - startMs) / step);
    const start = end - Math.max(1, length) * step;
    const since = Math.max(this.#startedMs, level.sinceMs);
    return { start_ms: start, end_ms: end, step_ms: step, since_ms: since > start ? since : null, level: at };
  }

  /** The rows of a window; `id`: only that one. */
  rows(window: CallWindow, { withPoints, withHistograms = false }: RowParts, id?: string): SeriesRow[] {
    const found = new Map<string, Gathered>();
    for (const [startMs, cells] of this.#level(window.level).buckets) {
      if (startMs < window.start_ms || startMs >= window.end_ms) continue;
      const at = Math.floor((startMs - window.start_ms) / window.step_ms);
      for (const [known, cell] of id === undefined ? cells : oneOf(cells, id)) {
        const gathered = found.get(known) ?? { whole: new CallCell(), points: [] };
        found.set(known, gathered);
        gathered.whole.addCell(cell);
        if (withPoints) pointAt(gathered.points, at).addCell(cell);
      }
    }
    return [...found].map(([known, { whole, points }]) => ({
      id: known,
      ...whole.sums(withHistograms),
      points: withPoints ? pointsOf(points, window, withHistograms) : [],
    }));
  }

  /** The sum over all rows. */
  total(
    window: CallWindow,
    { withPoints, withHistograms = false }: RowParts = SUMS_ONLY,
  ): CallSums & { readonly points: readonly CallPoint[] } {
    const whole = new CallCell();
    const points: CallCell[] = [];
    for (const [startMs, cells] of this.#level(window.level).buckets) {
      if (startMs < window.start_ms || startMs >= window.end_ms) continue;
      const at = Math.floor((startMs - window.start_ms) / window.step_ms);
      for (const cell of cells.values()) {
        whole.addCell(cell);
        if (withPoints) pointAt(points, at).addCell(cell);
      }
    }
    return { ...whole.sums(withHistograms), points: withPoints ? pointsOf(points, window, withHistograms) : [] };
  }

  #levelFor(startMs: number): number {
    const reaching = this.#levels.findIndex((level) => level.sinceMs <= Math.max(startMs, this.#startedMs));
    return reaching < 0 ? this.#levels.length - 1 : reaching;
  }

  #level(at: number): Level {
    const level = this.#levels[at];
    if (level === undefined) throw new Error(`There is no level ${at}`);
    return level;
  }

  #fullest(): Level {
    return this.#levels.reduce((fullest, level) => (level.cellCount > fullest.cellCount ? level : fullest));
  }
}

interface Gathered {
  readonly whole: CallCell;
  readonly points: CallCell[];
}

/** One level: the cells of all ids in each bucket, the oldest bucket first. */
class Level {
  readonly level: RollupLevel;
  readonly buckets = new Map<number, Map<string, CallCell>>();
  /** Everything later is here. */
  sinceMs = 0;
  cellCount = 0;

  constructor(level: RollupLevel) {
    this.level = level;
  }

  /** Returns the number of cells that are new. */
  add(id: string, counts: CallsOf, nowMs: number): number {
    const startMs = Math.floor(nowMs / this.level.bucketMs) * this.level.bucketMs;
    let cells = this.buckets.get(startMs);
    if (cells === undefined) {
      cells = new Map();
      this.buckets.set(startMs, cells);
    }
    let cell = cells.get(id);
    const isNew = cell === undefined;
    if (isNew && cells.size >= IDS_PER_BUCKET_MAX) return 0;
    cell ??= new CallCell();
    cells.set(id, cell);
    cell.add(counts);
    this.cellCount += Number(isNew);
    return Number(isNew);
  }

  /** Returns the number of cells that left. */
  expire(nowMs: number): number {
    const { bucketMs, retentionMs } = this.level;
    const oldestMs = nowMs - retentionMs;
    let left = 0;
    for (const startMs of this.buckets.keys()) {
      if (startMs + bucketMs >= oldestMs) break;
      left += this.dropOldest();
    }
    this.sinceMs = Math.max(this.sinceMs, Math.ceil(oldestMs / bucketMs) * bucketMs);
    return left;
  }

  dropOldest(): number {
    const [oldest] = this.buckets;
    if (oldest === undefined) return 0;
    const [startMs, { size }] = oldest;
    this.buckets.delete(startMs);
    this.sinceMs = startMs + this.level.bucketMs;
    this.cellCount -= size;
    return size;
  }
}

function oneOf(cells: ReadonlyMap<string, CallCell>, id: string): readonly (readonly [string, CallCell])[] {
  const cell = cells.get(id);
  return cell === undefined ? [] : [[id, cell]];
}
