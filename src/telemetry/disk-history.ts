// Ended spans and logs on the disk, so that they are listed after a restart too (modules 11.1). Written about once a
// second: a crash loses the last second.

import { mkdirSync } from 'node:fs';
import type { LogRecord, SpanRecord } from '../core/telemetry/records/records.ts';
import type { DiskSettings } from '../core/telemetry/records/settings.ts';
import { openStore } from '../store/kv/open-store.ts';
import { lockDirectory } from '../store/place/directory-lock.ts';
import { DiskLane } from './disk-lane.ts';

export interface DiskWorld {
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
  static async open(settings: DiskSettings, world: DiskWorld): Promise<DiskHistory> {
    const { folder, anyFileSystem, maxDiskBytes, retentionMs } = settings;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = await lockDirectory(folder);
    const place = { kind: 'directory', folder, reserveBytes: undefined, anyFileSystem } as const;
    const opened = openStore({ place, newEpoch: world.token(), checksRecords: false });
    if (!opened.ok) {
      lock.release();
      throw new Error(opened.message);
    }
    const lane = <T>(kind: 'spans' | 'logs'): DiskLane<T> => {
      const dropped = (reason: string, count: number) => world.dropped(kind, reason, count);
      const bounds = { number: NUMBERS[kind], bytesMax: maxDiskBytes * SHARES[kind], retentionMs };
      return new DiskLane<T>({ ...bounds, nowMs: () => world.nowMs(), dropped }, opened);
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
