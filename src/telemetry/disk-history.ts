// Ended spans and logs on the disk, so that they are listed after a restart too (modules 11.1). Written about once a
// second: a crash loses the last second.

import { mkdirSync } from 'node:fs';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { LogRecord, SpanRecord } from '../core/telemetry/records/records.ts';
import type { DiskSettings } from '../core/telemetry/records/settings.ts';
import { lockDirectory } from '../store/directory/store-folder.ts';
import { SPACE } from '../store/kv/keys.ts';
import type { Kv, KvEntry, KvReader } from '../store/kv/kv.ts';
import { type OpenedStore, openStore } from '../store/kv/open-store.ts';
import { DamagedRecord } from '../store/kv/record.ts';

export interface DiskContext {
  nowMs(): number;
  /** 32 random hexadecimal digits. */
  token(): string;
  dropped(kind: 'spans' | 'logs', reason: string, count: number): void;
}

/** Of the bound; the rest is for pages in use between transactions, so that the file stays below the bound. */
const SHARES = { spans: 0.55, logs: 0.2 } as const;
const NUMBERS = { spans: 1, logs: 2 } as const;

export class DiskHistory {
  readonly spans: DiskLane<SpanRecord>;
  readonly logs: DiskLane<LogRecord>;
  readonly #close: () => void;

  private constructor(spans: DiskLane<SpanRecord>, logs: DiskLane<LogRecord>, close: () => void) {
    this.spans = spans;
    this.logs = logs;
    this.#close = close;
  }

  /** Rejects with the reason why there is no history. */
  static async open(settings: DiskSettings, context: DiskContext): Promise<DiskHistory> {
    const { folder, anyFileSystem, maxDiskBytes, retentionMs } = settings;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = await lockDirectory(folder);
    const location = { kind: 'directory', folder, reserveBytes: undefined, anyFileSystem } as const;
    const opened = openStore({ location, newEpoch: context.token(), checksRecords: false, journal: 'none' });
    if (!opened.ok) {
      lock.release();
      throw new Error(opened.message);
    }
    const lane = <T>(kind: 'spans' | 'logs'): DiskLane<T> => {
      const dropped = (reason: string, count: number) => context.dropped(kind, reason, count);
      const bounds = { number: NUMBERS[kind], bytesMax: maxDiskBytes * SHARES[kind], retentionMs };
      return new DiskLane<T>({ ...bounds, nowMs: () => context.nowMs(), dropped }, opened);
    };
    return new DiskHistory(lane('spans'), lane('logs'), () => {
      opened.close();
      lock.release();
    });
  }

  add(spans: readonly SpanRecord[], logs: readonly LogRecord[]): void {
    for (const span of spans) if (span.pending !== true) this.spans.add(span);
    for (const log of logs) this.logs.add(log);
  }

  flush(): void {
    this.spans.flush();
    this.logs.flush();
  }

  close(): void {
    this.flush();
    this.#close();
  }
}

export interface LaneOptions {
  /** The first byte of the keys: 1 to 255, one for each lane of a store. */
  readonly number: number;
  readonly bytesMax: number;
  readonly retentionMs: number;
  nowMs(): number;
  dropped(reason: string, count: number): void;
}

const BLOCK_RECORDS_MAX = 2_048;
/** Larger than anything that was ever written. */
const BLOCK_TEXT_BYTES_MAX = 256 * 1024 * 1024;
const FASTEST = { level: 1 } as const;

/**
 * Records of one kind in blocks, about one a second, in the order in which they were written. The key of a block is the
 * time of writing. The oldest block leaves first, so that the sum stays within the lane's bytes and its retention.
 * Nothing here throws into the caller: what cannot be written or read is dropped and counted (O1).
 */
export class DiskLane<T> {
  readonly #options: LaneOptions;
  readonly #opened: OpenedStore;
  #waiting: T[] = [];
  #bytes: number;
  #lastTime: number;

  constructor(options: LaneOptions, opened: OpenedStore) {
    this.#options = options;
    this.#opened = opened;
    const sums = opened.store.read((kv) => readSums(kv, options.number));
    // Damaged sums are assumed to be the maximum: old blocks then leave a little early.
    this.#bytes = sums?.bytes ?? options.bytesMax;
    this.#lastTime = sums?.lastTime ?? Math.floor(options.nowMs());
  }

  /** Blocks that are not too old, the newest first, each read when it is requested. Damaged ones are counted. */
  *newestFirst(): Iterable<readonly T[]> {
    const { number, retentionMs, nowMs, dropped } = this.#options;
    const start = keyAt(number, nowMs() - retentionMs);
    let end = keyAt(number, this.#lastTime + 1);
    for (;;) {
      const found = this.#opened.store.read((kv) => lastIn(kv, start, end));
      if (found === undefined) return;
      end = found.key;
      const records = found.value && read(found.value);
      if (records === undefined) dropped('damaged_block', 1);
      // A block with a valid checksum was written by this class.
      else yield records as readonly T[];
    }
  }

  add(record: T): void {
    this.#waiting.push(record);
    if (this.#waiting.length >= BLOCK_RECORDS_MAX) this.flush();
  }

  flush(): void {
    const records = this.#waiting;
    if (records.length === 0) return;
    this.#waiting = [];
    const reason = this.#write(deflateRawSync(JSON.stringify(records), FASTEST));
    if (reason !== undefined) this.#options.dropped(reason, records.length);
  }

  clear(): void {
    this.#waiting = [];
    this.#change((kv) => {
      const keys = allKeys(kv, keyAt(this.#options.number, 0), keyAt(this.#options.number, this.#lastTime + 1));
      for (const key of keys) kv.remove(key);
      return 0;
    }, this.#lastTime);
  }

  /** Why it was not written, if it was not. */
  #write(value: Buffer): string | undefined {
    const { number, bytesMax, retentionMs, nowMs } = this.#options;
    if (value.length > bytesMax) return 'disk_limit';
    const time = Math.max(this.#lastTime + 1, Math.floor(nowMs()));
    try {
      if (this.#opened.space.left(value.length, 2) !== 'plenty') return 'disk_full';
      this.#change((kv) => {
        kv.put(keyAt(number, time), value);
        const bytes = this.#bytes + value.length;
        return trim(kv, { number, bytes, bytesMax, oldest: time - retentionMs, newest: time });
      }, time);
      return undefined;
    } catch {
      return 'disk_failed';
    }
  }

  /** `work` returns the bytes that are used afterwards. */
  #change(work: (kv: Kv) => number, lastTime: number): void {
    const bytes = this.#opened.store.write((kv) => {
      const sum = work(kv);
      writeSums(kv, this.#options.number, sum, lastTime);
      return sum;
    });
    this.#bytes = bytes;
    this.#lastTime = lastTime;
  }
}

interface Trimming {
  readonly number: number;
  readonly bytes: number;
  readonly bytesMax: number;
  readonly oldest: number;
  readonly newest: number;
}

/** Returns the bytes that are left. The newest block stays. */
function trim(kv: Kv, { number, bytes, bytesMax, oldest, newest }: Trimming): number {
  let left = bytes;
  const end = keyAt(number, newest);
  for (;;) {
    const first = firstIn(kv, keyAt(number, 0), end);
    if (first === undefined || (left <= bytesMax && timeOf(first.key) >= oldest)) return Math.max(0, left);
    kv.remove(first.key);
    left -= first.value?.length ?? 0;
  }
}

interface Found {
  readonly key: Buffer;
  /** Undefined: damaged. */
  readonly value: Buffer | undefined;
}

function firstIn(kv: KvReader, start: Buffer, end: Buffer): Found | undefined {
  return edgeOf(kv, start, end, false);
}

function lastIn(kv: KvReader, start: Buffer, end: Buffer): Found | undefined {
  return edgeOf(kv, start, end, true);
}

function edgeOf(kv: KvReader, start: Buffer, end: Buffer, isReverse: boolean): Found | undefined {
  try {
    const [entry]: KvEntry[] = [...kv.range(start, end, { limit: 1, isReverse })];
    return entry && { key: Buffer.from(entry.key), value: Buffer.from(entry.value) };
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    return { key: keyOfDamage(kv, start, end, isReverse), value: undefined };
  }
}

/** A damaged record does not show its key: the key is found by bisection. */
function keyOfDamage(kv: KvReader, start: Buffer, end: Buffer, isReverse: boolean): Buffer {
  const number = start[1] ?? 0;
  // The record lies in [low, high).
  let [low, high] = [timeOf(start), timeOf(end)];
  while (high - low > 1) {
    const middle = low + Math.floor((high - low) / 2);
    const [nearLow, nearHigh] = isReverse ? [middle, high] : [low, middle];
    const isThere = isDamaged(kv, keyAt(number, nearLow), keyAt(number, nearHigh));
    if (isThere === isReverse) low = middle;
    else high = middle;
  }
  return keyAt(number, low);
}

function isDamaged(kv: KvReader, start: Buffer, end: Buffer): boolean {
  try {
    return [...kv.range(start, end, { limit: 1 })].length > 0;
  } catch (error) {
    if (error instanceof DamagedRecord) return true;
    throw error;
  }
}

function allKeys(kv: KvReader, start: Buffer, end: Buffer): Buffer[] {
  const keys: Buffer[] = [];
  for (let last = lastIn(kv, start, end); last !== undefined; last = lastIn(kv, start, last.key)) keys.push(last.key);
  return keys;
}

function read(value: Buffer): unknown[] | undefined {
  try {
    const text = inflateRawSync(value, { maxOutputLength: BLOCK_TEXT_BYTES_MAX }).toString();
    const records: unknown = JSON.parse(text);
    return Array.isArray(records) ? records : undefined;
  } catch {
    return undefined;
  }
}

const KEY_BYTES = 10;

function keyAt(number: number, time: number): Buffer {
  const key = Buffer.alloc(KEY_BYTES);
  key[0] = SPACE.observed;
  key[1] = number;
  key.writeBigUInt64BE(BigInt(Math.max(0, Math.floor(time))), 2);
  return key;
}

function timeOf(key: Buffer): number {
  return Number(key.readBigUInt64BE(2));
}

const SUMS_BYTES = 16;

function sumsKey(number: number): Buffer {
  return Buffer.of(SPACE.observed, 0, number);
}

/** Undefined: damaged. */
function readSums(kv: KvReader, number: number): { readonly bytes: number; readonly lastTime: number } | undefined {
  try {
    const sums = kv.get(sumsKey(number));
    if (sums === undefined) return { bytes: 0, lastTime: 0 };
    const view = new DataView(sums.buffer, sums.byteOffset, SUMS_BYTES);
    return { bytes: view.getFloat64(0), lastTime: view.getFloat64(8) };
  } catch (error) {
    if (error instanceof DamagedRecord || error instanceof RangeError) return undefined;
    throw error;
  }
}

function writeSums(kv: Kv, number: number, bytes: number, lastTime: number): void {
  const sums = Buffer.alloc(SUMS_BYTES);
  sums.writeDoubleBE(bytes, 0);
  sums.writeDoubleBE(lastTime, 8);
  kv.put(sumsKey(number), sums);
}
