// Many changes of few items, more than a subscriber that does not read may have unread.

import type { RawWorker } from '../clients/raw-worker.ts';
import { streamClientsOf } from '../stores/stream-engine.ts';

export const PRICES = { stream_name: 'prices', group_id: 'all' };
const ITEMS = 20;
const PAD = 'x'.repeat(20_000);
/** More than any buffer of the system holds. */
const WRITES_MAX = 20_000;

/** The buffers of the system differ by less than this for the two kinds of subscribers. */
const WRITES_MORE = 200;

/**
 * Writes until the engine has closed every subscriber but one, which does not read either, and then some more. Returns
 * the number of changes.
 */
export async function writeUntilOneIsLeft(worker: RawWorker): Promise<number> {
  let n = 0;
  const writeTo = async (end: number): Promise<void> => {
    while (n < end) {
      await Promise.all(Array.from({ length: 50 }, () => change(worker, ++n)));
    }
  };
  do {
    if (n >= WRITES_MAX) throw new Error('Nobody was too slow');
    await writeTo(n + 50);
  } while ((await streamClientsOf(worker)) > 1);
  await writeTo(n + WRITES_MORE);
  return n;
}

/** Some items are deleted: their next change creates them. */
function change(worker: RawWorker, n: number): Promise<unknown> {
  const item = { ...PRICES, item_id: `i${n % ITEMS}` };
  if (n % 17 === 0) return worker.call('stream::delete', item);
  return worker.call('stream::set', { ...item, data: { n, pad: PAD } });
}

export async function storedIn(worker: RawWorker): Promise<Map<string, unknown>> {
  const { result } = await worker.call('stream::list', { ...PRICES, include_ids: true });
  return new Map((result as { group: { id: string; data: unknown }[] }).group.map(({ id, data }) => [id, data]));
}
