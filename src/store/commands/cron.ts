// Claims of cron ticks (CR1): a claim is on disk before the engine calls the function. The key of a trigger's record is
// `c` and the trigger's key; the value is JSON.

import { type CronRecord, claimTick, lastClaimed, type TriggerInput } from '../../core/cron/claims.ts';
import { isClaimInput, isCronRecord, isTriggerInput } from '../../generated/cron-payloads.ts';
import { joinKey, type KeyRange, keysBelow, SPACE } from '../kv/keys.ts';
import type { Kv, KvReader } from '../kv/kv.ts';
import type { StoreCommand } from '../thread/contract.ts';

function readRecord(kv: KvReader, trigger: string): CronRecord | undefined {
  const value = kv.get(keyOf(trigger));
  return value === undefined ? undefined : parseRecord(value);
}

function writeRecord(kv: Kv, trigger: string, record: CronRecord): void {
  kv.put(keyOf(trigger), Buffer.from(JSON.stringify(record)));
}

function parseRecord(value: Uint8Array): CronRecord {
  const record: unknown = JSON.parse(Buffer.from(value).toString('utf8'));
  if (!isCronRecord(record)) throw new Error('A record of cron has an unknown shape');
  return record;
}

function allRecords(): KeyRange {
  return keysBelow(SPACE.cron);
}

function keyOf(trigger: string): Buffer {
  return joinKey(SPACE.cron, Buffer.from(trigger));
}

/**
 * Opens a trigger. Returns the time up to which its ticks were checked before, or null for a trigger that is new or was
 * removed.
 */
export const cronOpen: StoreCommand = {
  name: 'cron::open',
  isWrite: true,
  run(kv, bytes, { nowMs }) {
    const { trigger } = triggerOf(bytes);
    const known = readRecord(kv, trigger);
    const isNew = known === undefined || known.releasedMs !== undefined;
    if (isNew) writeRecord(kv, trigger, { sinceMs: nowMs, claimed: known?.claimed ?? [] });
    const settledMs = isNew ? null : Math.max(known.sinceMs, lastClaimed(known.claimed) ?? known.sinceMs);
    return { result: Buffer.from(JSON.stringify({ settledMs })) };
  },
};

/** Claims the ticks that are not claimed yet. Returns for each whether it was claimed. */
export const cronClaim: StoreCommand = {
  name: 'cron::claim',
  isWrite: true,
  // It writes the same small records again and again.
  usesReserve: true,
  run(kv, bytes, { nowMs }) {
    const input: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    if (!isClaimInput(input)) throw new Error('The cron module sent ticks of an unknown shape');
    const won = input.ticks.map(({ trigger, atMs, follows }) => {
      const known = readRecord(kv, trigger) ?? { sinceMs: nowMs, claimed: [] };
      const claimed = claimTick(known.claimed, atMs, follows);
      if (claimed === undefined) return false;
      writeRecord(kv, trigger, { ...known, claimed });
      return true;
    });
    return { result: Buffer.from(JSON.stringify({ won })) };
  },
};

/** The worker has unregistered the trigger. Its claims are kept. */
export const cronRelease: StoreCommand = {
  name: 'cron::release',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, { nowMs }) {
    const { trigger } = triggerOf(bytes);
    const known = readRecord(kv, trigger);
    if (known !== undefined) writeRecord(kv, trigger, { ...known, releasedMs: nowMs });
    return {};
  },
};

/** How long claims of an unregistered trigger are kept: longer than a clock is ever set back. */
const RELEASED_MS_MAX = 2 * 86_400_000;
/**
 * How long claims of a trigger are kept that was not registered again after a restart: longer than a yearly trigger
 * waits.
 */
const LOST_MS_MAX = 800 * 86_400_000;

/** Removes triggers that are long gone. */
export const cronSweep: StoreCommand = {
  name: 'cron::sweep',
  isWrite: true,
  usesReserve: true,
  run(kv, _bytes, { nowMs }) {
    const { start, end } = allRecords();
    const gone = [...kv.range(start, end)].filter(({ value }) => {
      const { sinceMs, releasedMs, claimed } = parseRecord(value);
      if (releasedMs !== undefined) return releasedMs < nowMs - RELEASED_MS_MAX;
      return Math.max(sinceMs, lastClaimed(claimed) ?? 0) < nowMs - LOST_MS_MAX;
    });
    for (const key of gone.map((entry) => Buffer.from(entry.key))) kv.remove(key);
    return {};
  },
};

function triggerOf(bytes: Uint8Array): TriggerInput {
  const input: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
  if (!isTriggerInput(input)) throw new Error('The cron module named no trigger');
  return input;
}
