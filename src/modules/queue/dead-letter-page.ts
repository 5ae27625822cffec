// One page of dead letters that lie in several queues, as those of a topic do: one queue for each of its functions.
// Newest first across all of them, each queue read at one moment.
//
// Payloads are never parsed: the rows of the page are found without them.

import type { DeadListInput } from '../../core/queue/shapes.ts';
import { isDeadRows } from '../../generated/queue-shapes.ts';
import { skipValue } from '../../protocol/json/json-scan.ts';
import { parseAs } from '../../store/commands/queue/encoding.ts';
import type { DeadLetters } from './adapters/capabilities.ts';

type Lister = Pick<DeadLetters, 'list'>;

/** The limit of one read of a queue. */
const LOOKED_AT_MAX = 1_000;
/** A payload may be nested up to the limit of JSON, and lies in a row of a list. */
const LEVELS_ABOVE_PAYLOAD = 2;

/** A row by its queue and the number of newer rows in that queue. */
interface RowPosition {
  readonly queue: number;
  readonly at: number;
}

interface Head {
  readonly failedAt: number;
  readonly row: Uint8Array;
}

/** `pages`: the same page of each queue. */
export async function deadLetterRows(lister: Lister, pages: readonly DeadListInput[]): Promise<readonly Uint8Array[]> {
  const [page] = pages;
  if (page === undefined) return [];
  if (pages.length === 1 || page.id !== undefined) {
    const lists = await Promise.all(pages.map((one) => lister.list(one)));
    return lists.flatMap(rowsIn);
  }
  const heads = await Promise.all(pages.map((one) => headsOf(lister, one)));
  const positions = newestFirst(heads, page.offset + page.limit).slice(page.offset);
  if (page.withoutPayload === true) return positions.flatMap(({ queue, at }) => heads[queue]?.[at]?.row ?? []);
  const rows = await Promise.all(pages.map((one, queue) => rowsAt(lister, one, ofQueue(positions, queue))));
  return positions.flatMap(({ queue }) => rows[queue]?.shift() ?? []);
}

function ofQueue(positions: readonly RowPosition[], queue: number): number[] {
  return positions.filter((position) => position.queue === queue).map(({ at }) => at);
}

/** The first rows of each queue, as many as the page could need. */
async function headsOf(lister: Lister, { offset: from, limit, ...page }: DeadListInput): Promise<Head[]> {
  const heads: Head[] = [];
  const wanted = from + limit;
  while (heads.length < wanted) {
    const asked = Math.min(LOOKED_AT_MAX, wanted - heads.length);
    const list = await lister.list({ ...page, offset: heads.length, limit: asked, withoutPayload: true });
    const rows = rowsIn(list);
    const deadRows = parseAs(list, isDeadRows);
    heads.push(...rows.map((row, index) => ({ row, failedAt: deadRows[index]?.failed_at ?? 0 })));
    if (rows.length < asked) break;
  }
  return heads;
}

/** Each queue keeps its order, even if a clock was set back. */
function newestFirst(heads: readonly (readonly Head[])[], count: number): RowPosition[] {
  const next = heads.map(() => 0);
  const positions: RowPosition[] = [];
  while (positions.length < count) {
    let newest: { readonly queue: number; readonly failedAt: number } | undefined;
    for (const [queue, at] of next.entries()) {
      const failedAt = heads[queue]?.[at]?.failedAt;
      if (failedAt !== undefined && failedAt > (newest?.failedAt ?? -1)) newest = { queue, failedAt };
    }
    if (newest === undefined) break;
    const at = next[newest.queue] ?? 0;
    positions.push({ queue: newest.queue, at });
    next[newest.queue] = at + 1;
  }
  return positions;
}

/** Adjacent rows with their payloads. */
async function rowsAt(lister: Lister, page: DeadListInput, at: readonly number[]): Promise<Uint8Array[]> {
  const [offset] = at;
  if (offset === undefined) return [];
  return rowsIn(await lister.list({ ...page, offset, limit: at.length }));
}

/** The rows of a list as an adapter wrote it, without white space. */
function rowsIn(list: Uint8Array): Uint8Array[] {
  const rows: Uint8Array[] = [];
  for (let at = 1; at < list.length - 1; ) {
    const end = skipValue(list, at, -LEVELS_ABOVE_PAYLOAD);
    if (end < 0) throw new Error('The adapter of the queues returned dead letters that are not JSON');
    rows.push(list.subarray(at, end));
    at = end + 1;
  }
  return rows;
}
