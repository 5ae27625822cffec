// The dead letters of a topic are stored in one queue per function and listed as one list.

import { expect, test } from 'vitest';
import type { DeadListInput } from '../../../../src/core/queue/shapes.ts';
import { deadLetterRows } from '../../../../src/modules/queue/dead-letter-page.ts';

interface Letter {
  readonly id: string;
  readonly failedAt: number;
  /** JSON, as it was enqueued. */
  readonly payload: string;
}

/** Newest first, as an adapter keeps them; records pages that were requested with payloads. */
function queuesOf(byName: Readonly<Record<string, readonly Letter[]>>) {
  const asked: DeadListInput[] = [];
  return {
    asked,
    async list(page: DeadListInput): Promise<Uint8Array> {
      if (page.withoutPayload !== true) asked.push(page);
      const rows = (byName[page.queue] ?? []).slice(page.offset, page.offset + page.limit);
      return Buffer.from(`[${rows.map((letter) => rowOf(letter, page)).join()}]`);
    },
  };
}

function rowOf({ id, failedAt, payload }: Letter, { withoutPayload }: DeadListInput): string {
  const counts = { retries: 1, deliveries: 1, first_failed_at: failedAt, enqueued_at: 1, size_bytes: payload.length };
  const row = { id, function_id: 'f', error: 'a ] and a , and a "', reason: 'failed', failed_at: failedAt, ...counts };
  const json = JSON.stringify(row);
  return withoutPayload === true ? json : `${json.slice(0, -1)},"payload":${payload}}`;
}

const letters = (...all: readonly (readonly [string, number])[]): Letter[] =>
  all.map(([id, failedAt]) => ({ id, failedAt, payload: `{"of":"${id}","n":[1e400,"]"]}` }));

async function idsOn(
  queues: ReturnType<typeof queuesOf>,
  names: readonly string[],
  page: Pick<DeadListInput, 'offset' | 'limit' | 'withoutPayload'>,
): Promise<string[]> {
  const rows = await deadLetterRows(
    queues,
    names.map((queue) => ({ queue, ...page })),
  );
  return rows.map((row) => String(/"id":"(\w+)"/.exec(Buffer.from(row).toString())?.[1]));
}

const TWO = {
  one: letters(['a', 50], ['c', 30], ['e', 10]),
  none: [],
  other: letters(['b', 40], ['d', 30]),
};

test.each([undefined, true])(
  '[Q10] A page of a topic holds the newest of all its functions, up to the limit (bare: %s)',
  async (withoutPayload) => {
    const bare = withoutPayload === undefined ? {} : { withoutPayload };
    const all = ['one', 'none', 'other'];
    const queues = queuesOf(TWO);
    expect(await idsOn(queues, all, { offset: 0, limit: 9, ...bare })).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(await idsOn(queues, all, { offset: 0, limit: 2, ...bare })).toEqual(['a', 'b']);
    expect(await idsOn(queues, all, { offset: 1, limit: 3, ...bare })).toEqual(['b', 'c', 'd']);
    expect(await idsOn(queues, all, { offset: 5, limit: 9, ...bare })).toEqual([]);
  },
);

test('[Q10] A page of a topic has the enqueued payloads, and fetches no others', async () => {
  const queues = queuesOf(TWO);
  const pages = ['one', 'other'].map((queue) => ({ queue, offset: 2, limit: 2 }));
  const rows = await deadLetterRows(queues, pages);
  expect(rows.map((row) => Buffer.from(row).toString())).toEqual([
    expect.stringMatching(/,"payload":\{"of":"c","n":\[1e400,"\]"\]\}\}$/),
    expect.stringMatching(/,"payload":\{"of":"d","n":\[1e400,"\]"\]\}\}$/),
  ]);
  expect(queues.asked).toEqual([
    { queue: 'one', offset: 1, limit: 1 },
    { queue: 'other', offset: 1, limit: 1 },
  ]);
});

test('[Q10] A queue with many dead letters is read in several steps', async () => {
  const many = Array.from({ length: 1_500 }, (_, n): [string, number] => [`m${n}`, 5_000 - n]);
  const queues = queuesOf({ many: letters(...many), other: letters(['last', 1]) });
  expect(await idsOn(queues, ['many', 'other'], { offset: 1_499, limit: 5 })).toEqual(['m1499', 'last']);
});

test('[Q10] A payload at the nesting limit of JSON is listed', async () => {
  const deep = `${'['.repeat(128)}${']'.repeat(128)}`;
  const queues = queuesOf({ one: [{ id: 'a', failedAt: 1, payload: deep }], other: letters(['b', 0]) });
  expect(await idsOn(queues, ['one', 'other'], { offset: 0, limit: 2 })).toEqual(['a', 'b']);
});
