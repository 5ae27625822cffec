// The head of a group: its sequence number, its number of items, and which of its events are kept. It is written in the
// same transaction as every event (T2).

import type { Kv, KvReader } from '../../kv/kv.ts';
import { floorKey, headKey } from './keys.ts';

export interface GroupHead {
  /** The number of the last event. */
  seq: number;
  items: number;
  /** Number of the oldest event kept; `seq + 1` when none is. */
  oldestKept: number;
  keptBytes: number;
  /** When the history is to be trimmed; 0: nothing is kept, so it is never due. */
  dueMs: number;
  /** The number after which the group began, or began again after it had been removed. */
  bornAt: number;
}

export function readHead(kv: KvReader, stream: string, group: string): GroupHead | undefined {
  const bytes = kv.get(headKey(stream, group));
  return bytes === undefined ? undefined : decodeHead(bytes);
}

/**
 * A group that does not exist begins at the highest number that any removed group reached. Its own earlier numbers must
 * not be used again, because a subscriber may still hold one (T4).
 */
export function headOrNew(kv: KvReader, stream: string, group: string): GroupHead {
  const found = readHead(kv, stream, group);
  if (found !== undefined) return found;
  const seq = readFloor(kv);
  return { seq, items: 0, oldestKept: seq + 1, keptBytes: 0, dueMs: 0, bornAt: seq };
}

export function writeHead(kv: Kv, stream: string, group: string, head: GroupHead): void {
  const bytes = Buffer.alloc(HEAD_BYTES);
  const { seq, items, oldestKept, keptBytes, dueMs, bornAt } = head;
  [seq, items, oldestKept, keptBytes, dueMs, bornAt].forEach((value, index) => bytes.writeDoubleBE(value, 8 * index));
  kv.put(headKey(stream, group), bytes);
}

export function decodeHead(bytes: Uint8Array): GroupHead {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    seq: view.getFloat64(0),
    items: view.getFloat64(8),
    oldestKept: view.getFloat64(16),
    keptBytes: view.getFloat64(24),
    dueMs: view.getFloat64(32),
    bornAt: view.getFloat64(40),
  };
}

export function readFloor(kv: KvReader): number {
  const bytes = kv.get(floorKey());
  return bytes === undefined ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0);
}

export function raiseFloor(kv: Kv, seq: number): void {
  if (seq <= readFloor(kv)) return;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(seq);
  kv.put(floorKey(), bytes);
}

const HEAD_BYTES = 48;
