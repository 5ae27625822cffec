// The topic `logs`: records after the last one that was sent, a few times a second. The observability module applies
// the filter, so a live view shows what a search finds.

import { isLogPage } from '../../../generated/console-answers.ts';
import type { Desk } from '../desk.ts';
import type { ListedLog, LogPage } from '../facts/answers.ts';
import { logRow } from '../routes/log-rows.ts';
import { logFilter } from '../routes/telemetry-routes.ts';
import { Feed } from './feed.ts';
import { poll } from './poll.ts';
import type { Opening } from './topics.ts';

const INTERVAL_MS = 250;
const READ_AT_ONCE = 1_000;
/** Records arrive in batches: an older one may arrive after a newer one. */
const OVERLAP_MS = 2_000;
const TOLD_MAX = 20_000;

export function openLogs(desk: Desk, opening: Opening): void {
  const { builtIns, context } = desk;
  const { topic, filter, since, subscription } = opening;
  const beginMs = since === undefined ? context.router.nowMs : Number(since);
  let newestMs = beginMs;
  /** Ids of records that were sent. */
  const told = new Set<number>();
  poll(desk, opening, INTERVAL_MS, async () => {
    const start_time = Math.max(beginMs, newestMs - OVERLAP_MS);
    const asked = { ...logFilter({ ...filter, start_time }), order: 'desc', limit: READ_AT_ONCE };
    const { logs, total } = await builtIns.typed<LogPage>('engine::logs::search', asked, isLogPage);
    const fresh = logs.filter(({ log_id }) => !told.has(log_id)).reverse();
    // All records of this answer are new, and there were more: those in between were never seen.
    if (fresh.length === READ_AT_ONCE && total > logs.length) subscription.drop(total - logs.length);
    for (const log of fresh) {
      told.add(log.log_id);
      newestMs = Math.max(newestMs, timeOf(log));
      subscription.push(Feed.text(logRow(log)), String(newestMs));
    }
    for (const id of told) {
      if (told.size <= TOLD_MAX) break;
      told.delete(id);
    }
  });
  subscription.opened(topic, String(beginMs));
}

/** A record without its own time counts by when it was seen. */
function timeOf({ timestamp_unix_nano, observed_timestamp_unix_nano }: ListedLog): number {
  return Math.floor((timestamp_unix_nano || observed_timestamp_unix_nano) / 1e6);
}
