// `stream.sweep`: removes history that is no longer written to. A write trims the history of its own group. A silent
// group is found here by its due time, so that an empty one costs nothing after a while. An internal command.

import type { Kv } from '../../kv/kv.ts';
import type { CommandWorld, StoreCommand } from '../../thread/contract.ts';
import { raiseFloor, readHead, writeHead } from './group-head.ts';
import { dropAged } from './history.ts';
import { dueKey, dueNames, duesUntil, headKey } from './keys.ts';

export const streamSweep: StoreCommand = {
  name: 'stream.sweep',
  isWrite: true,
  usesReserve: true,
  run(kv, _input, world) {
    const { start, end } = duesUntil(world.nowMs);
    // The keys are copied first: the range is valid only until the first change.
    const due = [...kv.range(start, end, { limit: SWEEP_GROUPS_MAX })].map(({ key }) => Buffer.from(key));
    let swept = 0;
    for (let dropped = 0; swept < due.length && dropped < SWEEP_EVENTS_MAX; swept++) {
      const key = due[swept] ?? NOTHING;
      kv.remove(key);
      const [stream = '', group = ''] = dueNames(key);
      dropped += sweepGroup(kv, world, stream, group);
    }
    return { result: sweptResult(swept) };
  },
};

export function sweptResult(groups: number): Buffer {
  return Buffer.from(JSON.stringify({ swept: groups }));
}

/** The answer when there is nothing to do for now. */
export const SWEPT_NOTHING = sweptResult(0).toString();
/** The limits of one run, in groups and in events removed before the last of them: other commands wait for it. */
const SWEEP_GROUPS_MAX = 500;
const SWEEP_EVENTS_MAX = 5_000;
const NOTHING = new Uint8Array(0);

/** Returns how many events it removed. */
function sweepGroup(kv: Kv, world: CommandWorld, stream: string, group: string): number {
  const head = readHead(kv, stream, group);
  if (head === undefined) return 0;
  const { oldestKept } = head;
  head.dueMs = dropAged(kv, world, stream, group, head) ?? 0;
  if (head.dueMs > 0) kv.put(dueKey(head.dueMs, stream, group), NOTHING);
  if (head.dueMs > 0 || head.items > 0) {
    writeHead(kv, stream, group, head);
    return head.oldestKept - oldestKept;
  }
  // If the group is used again, its numbers continue above the old ones.
  raiseFloor(kv, head.seq);
  kv.remove(headKey(stream, group));
  return head.oldestKept - oldestKept;
}
