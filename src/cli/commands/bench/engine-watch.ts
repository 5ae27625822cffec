// The engine during a benchmark: what the run costs its process, and the loss of a connection. Without the check for a
// loss, calls would fail in a tight loop, and an expected tick would never come.

import type { SvcWorker } from '../../../sdk/worker/svc-worker.ts';
import { lostEngine } from '../../engine/connection.ts';
import { isRecord, type JsonRecord, numberIn } from '../../text/records.ts';

export interface EngineUse {
  /** Of one core, from before the warm-up until the end of the cleanup. */
  readonly cpu_percent: number;
  /** At the end. */
  readonly rss_bytes: number;
}

interface Reading {
  readonly atMs: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** Starts to measure; the returned function stops. Undefined for an engine that does not report its process. */
export async function watchEngine(
  readHealth: () => Promise<unknown>,
  elapsedMs: () => number,
): Promise<() => Promise<EngineUse | undefined>> {
  const read = async (): Promise<Reading | undefined> => {
    const process = processIn(await readHealth().catch(() => undefined));
    const [cpuSeconds, residentBytes] = [numberIn(process, 'cpu_seconds'), numberIn(process, 'resident_bytes')];
    if (cpuSeconds === undefined || residentBytes === undefined) return undefined;
    return { atMs: elapsedMs(), cpuSeconds, residentBytes };
  };
  const before = await read();
  return async () => {
    const after = await read();
    if (before === undefined || after === undefined) return undefined;
    const share = ((after.cpuSeconds - before.cpuSeconds) * 1_000) / Math.max(after.atMs - before.atMs, 1);
    return { cpu_percent: Math.round(share * 100), rss_bytes: after.residentBytes };
  };
}

function processIn(health: unknown): JsonRecord {
  let value = health;
  for (const field of ['components', 'router', 'details', 'process'])
    value = isRecord(value) ? value[field] : undefined;
  return isRecord(value) ? value : {};
}

export interface Loss {
  readonly hasHappened: boolean;
  /** Rejects when it happens. */
  readonly failure: Promise<never>;
}

export function watchLoss(connections: readonly SvcWorker[], address: string): Loss {
  let hasHappened = false;
  const failure = new Promise<never>((_, reject) => {
    for (const connection of connections) {
      connection.on('disconnected', ({ code, reason }) => {
        hasHappened = true;
        reject(lostEngine(`code ${code}${reason && ` ${reason}`}`, address));
      });
    }
  });
  // Nothing may be waiting for it yet; an unhandled rejection would end the process.
  failure.catch(() => {});
  return {
    get hasHappened() {
      return hasHappened;
    },
    failure,
  };
}
