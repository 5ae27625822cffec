// The record of a cron trigger: the key is `c` and the trigger's key, the value is JSON.

import type { CronRecord } from '../../../core/cron/claim-shapes.ts';
import { isCronRecord } from '../../../generated/cron-payloads.ts';
import { joinKey, type KeyRange, keysBelow, SPACE } from '../../kv/keys.ts';
import type { Kv, KvReader } from '../../kv/kv.ts';

export function readRecord(kv: KvReader, trigger: string): CronRecord | undefined {
  const value = kv.get(keyOf(trigger));
  return value === undefined ? undefined : parseRecord(value);
}

export function writeRecord(kv: Kv, trigger: string, record: CronRecord): void {
  kv.put(keyOf(trigger), Buffer.from(JSON.stringify(record)));
}

export function parseRecord(value: Uint8Array): CronRecord {
  const record: unknown = JSON.parse(Buffer.from(value).toString('utf8'));
  if (!isCronRecord(record)) throw new Error('A record of cron has an unknown shape');
  return record;
}

export function allRecords(): KeyRange {
  return keysBelow(SPACE.cron);
}

function keyOf(trigger: string): Buffer {
  return joinKey(SPACE.cron, Buffer.from(trigger));
}
