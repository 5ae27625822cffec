// The screen of `svc top`, as lines that fit into the terminal.

import type { Painter } from '../../text/colour.ts';
import { formatDuration } from '../../text/durations.ts';
import { type Column, formatTable } from '../../text/table.ts';
import type { FunctionFigures, QueueFigures, TopFigures, WorkerFigures } from './top-sample.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const MIB = 1024 * 1024;

export function topLines(figures: TopFigures, address: string, size: ScreenSize, paint: Painter): string[] {
  const { functions, queues, workers } = figures;
  // Heading and blank line of each part, the first line, and the line of the cursor.
  const parts = [functions, queues, workers].filter((rows) => rows.length > 0).length;
  const free = Math.max(parts, size.rows - 2 - parts * 2);
  const shares = shareOut(free, [functions.length, queues.length, workers.length]);
  const table = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], share: number): string[] => {
    if (rows.length === 0) return [];
    const [heading = '', ...lines] = formatTable(columns, rows.slice(0, share), size.columns);
    return ['', paint.bold(heading), ...lines];
  };
  const errors = `${figures.errors_per_second} errors/s`;
  const head = [
    paint.bold(address),
    `${figures.calls_per_second} calls/s`,
    figures.errors_per_second > 0 ? paint.red(errors) : errors,
    `${workers.length} workers`,
  ];
  return [
    head.join('  '),
    ...table(FUNCTION_COLUMNS, functions, shares[0] ?? 0),
    ...table(QUEUE_COLUMNS, queues, shares[1] ?? 0),
    ...table(WORKER_COLUMNS, workers, shares[2] ?? 0),
  ];
}

/** Each part gets an equal share of the lines; lines that a part does not need go to the first that needs more. */
export function shareOut(free: number, wanted: readonly number[]): number[] {
  const askers = wanted.filter((count) => count > 0).length;
  const fair = Math.max(1, Math.floor(free / Math.max(1, askers)));
  const shares = wanted.map((count) => Math.min(count, fair));
  let left = free - shares.reduce((sum, share) => sum + share, 0);
  for (const [index, count] of wanted.entries()) {
    const more = Math.max(0, Math.min(left, count - (shares[index] ?? 0)));
    shares[index] = (shares[index] ?? 0) + more;
    left -= more;
  }
  return shares;
}

const FUNCTION_COLUMNS: readonly Column<FunctionFigures>[] = [
  { name: 'function', cut: 'middle', text: (row) => row.function_id },
  { name: 'calls/s', align: 'right', text: (row) => row.calls_per_second.toFixed(1) },
  { name: 'errors/s', align: 'right', text: (row) => row.errors_per_second.toFixed(1) },
  { name: 'p95', align: 'right', text: (row) => (row.p95_ms === null ? '' : formatDuration(row.p95_ms)) },
  { name: 'calls', align: 'right', text: (row) => String(row.calls) },
  { name: 'errors', align: 'right', text: (row) => String(row.errors) },
];

const QUEUE_COLUMNS: readonly Column<QueueFigures>[] = [
  { name: 'queue', cut: 'middle', text: (row) => row.queue },
  { name: 'depth', align: 'right', text: (row) => String(row.depth) },
  { name: 'running', align: 'right', text: (row) => String(row.running) },
  { name: 'dead', align: 'right', text: (row) => String(row.dead) },
  { name: 'state', text: (row) => (row.paused ? 'paused' : 'open') },
];

const WORKER_COLUMNS: readonly Column<WorkerFigures>[] = [
  { name: 'worker', cut: 'middle', text: (row) => row.worker },
  { name: 'status', text: (row) => row.status },
  { name: 'functions', align: 'right', text: (row) => String(row.functions) },
  { name: 'in_flight', align: 'right', text: (row) => String(row.in_flight) },
  { name: 'cpu', align: 'right', text: (row) => (row.cpu_percent === null ? '' : `${row.cpu_percent.toFixed(0)} %`) },
  {
    name: 'memory',
    align: 'right',
    text: (row) => (row.memory_bytes === null ? '' : `${(row.memory_bytes / MIB).toFixed(0)} MiB`),
  },
];
