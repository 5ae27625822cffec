import { expect, test } from 'vitest';
import { inPages, type ListPage } from '../../../../src/cli/commands/stream/stream.ts';
import { SvcError } from '../../../../src/sdk/calls/errors.ts';

/** Answers with numbers, up to `atOnce` in one answer. */
function listOf(count: number, atOnce: number) {
  const asked: ListPage[] = [];
  const fetch = async (page: ListPage): Promise<number[]> => {
    asked.push(page);
    const { offset = 0, limit = count } = page;
    const items = Array.from({ length: Math.min(limit, count - offset) }, (_, index) => offset + index);
    if (items.length > atOnce) throw new SvcError('RESULT_TOO_LARGE', 'too much');
    return items;
  };
  return { fetch, asked };
}

test('[S4] a list that fits into one answer is requested once', async () => {
  const { fetch, asked } = listOf(10_000, 10_000);
  expect(await inPages(fetch)).toHaveLength(10_000);
  expect(asked).toEqual([{}]);
});

test.each([
  [10_001, 10_000],
  [2_500, 700],
  [3, 1],
  [1_000, 999],
])('[S4] %i items, at most %i in one answer, are all read in order', async (count, atOnce) => {
  const { fetch } = listOf(count, atOnce);
  expect(await inPages(fetch)).toEqual(Array.from({ length: count }, (_, index) => index));
});

test('[S4] an item that is too large alone is an error, and other errors are passed on', async () => {
  await expect(inPages(listOf(2, 0).fetch)).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
  const broken = inPages(() => Promise.reject(new SvcError('STORAGE_UNAVAILABLE', 'away')));
  await expect(broken).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
});
