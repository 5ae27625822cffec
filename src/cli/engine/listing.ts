// Commands that list what a running engine has. Flags, notes and refreshing are the same for all of them (CLI-15).

import type { Context } from '../kernel/command.ts';
import { EXIT, type ExitCode } from '../kernel/failures.ts';
import type { CONNECTION_FLAGS, Flag, FlagTable } from '../kernel/flags.ts';
import type { Column } from '../text/table.ts';
import { type EngineConnection, follow, withEngine } from './connection.ts';

/** `what`: what is listed, in the plural. */
export function listFlags(what: string, limits: LimitOptions = {}) {
  return { limit: limitFlag(what, limits), watch: WATCH_FLAG } as const satisfies FlagTable;
}

export const LIST_EXIT_CODES = [EXIT.timedOut, EXIT.unreachable, EXIT.refused, EXIT.interrupted] as const;

interface LimitOptions {
  /** Shown without the flag. */
  readonly fallback?: number;
  readonly max?: number;
}

export function limitFlag(what: string, { fallback = 1_000, max = 1_000_000 }: LimitOptions = {}) {
  return {
    kind: 'count',
    short: 'n',
    placeholder: '<n>',
    min: 1,
    max,
    fallback: String(fallback),
    help: `Largest number of ${what}.`,
  } as const satisfies Flag;
}

export const WATCH_FLAG = {
  kind: 'switch',
  help: 'Refresh every second, until Ctrl-C. With --json, one line per second.',
} as const satisfies Flag;

/** `what`: what is listed, in the plural. */
export function timeRangeFlags(what: string) {
  return {
    since: { kind: 'text', placeholder: '<time>', help: `Only ${what} after this time: 15m, an ISO time, Unix ms.` },
    until: { kind: 'text', placeholder: '<time>', help: `Only ${what} before this time.` },
  } as const satisfies FlagTable;
}

type ListContext = Pick<Context<typeof CONNECTION_FLAGS>, 'output' | 'terminal'> & {
  readonly flags: Context<typeof CONNECTION_FLAGS>['flags'] & { readonly limit: number; readonly watch: boolean };
};

export interface Listing<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** For the JSON formats; absent: the rows. */
  readonly records?: readonly unknown[];
  /** How many there are; absent: as many as there are rows. Infinite: more, and it is unknown how many. */
  readonly total?: number;
  /** Why there are none, or what to do then. */
  readonly none: string;
}

interface ListOptions {
  /** What is listed, in the plural; with --watch and --json also the name of its member. */
  readonly what: string;
  /** See `withEngine`. */
  readonly printsValues?: boolean;
}

export async function showList<Row>(
  context: ListContext,
  { what, printsValues = false }: ListOptions,
  read: (engine: EngineConnection) => Promise<Listing<Row>>,
): Promise<ExitCode> {
  const { flags, output, terminal } = context;
  if (!flags.watch) {
    print(context, what, await withEngine(context, read, { printsValues }));
    return EXIT.done;
  }
  return await follow(
    context,
    WATCH_MS,
    async (engine) => {
      const listing = await read(engine);
      if (output.jsonAsked) {
        const records = (listing.records ?? listing.rows).slice(0, flags.limit);
        output.printLine({ time: new Date(terminal.now()).toISOString(), [what]: records });
        return;
      }
      if (terminal.out.isTerminal) terminal.out.write('\u001b[H\u001b[2J');
      print(context, what, listing);
    },
    { printsValues },
  );
}

/** As many as are shown, without reading the rest. */
export async function firstOf<T>(items: AsyncIterable<T>, limit: number): Promise<{ rows: T[]; total: number }> {
  const rows: T[] = [];
  for await (const item of items) {
    if (rows.length === limit) return { rows, total: Number.POSITIVE_INFINITY };
    rows.push(item);
  }
  return { rows, total: rows.length };
}

const WATCH_MS = 1_000;

function print<Row>({ flags, output }: ListContext, what: string, listing: Listing<Row>): void {
  const { columns, rows, records = rows, total = rows.length, none } = listing;
  const shown = rows.slice(0, flags.limit);
  output.printRows({ columns, rows: shown, records: records.slice(0, flags.limit) });
  if (shown.length === 0) output.note(none);
  else if (total === Number.POSITIVE_INFINITY) output.note(`The first ${shown.length} ${what}. More with -n.`);
  else if (total > shown.length) output.note(`${shown.length} of ${total} ${what}. More with -n.`);
}
