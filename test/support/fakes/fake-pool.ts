// The thread pool in this thread: a scan ends when the test ends it.

import { type AlertInput, type AlertVerdict, evaluateAlerts } from '../../../src/core/telemetry/metrics/alert-rules.ts';
import type { UpdateAnswer, UpdateTask } from '../../../src/core/update-ops/update-task.ts';
import type { Pool } from '../../../src/effects/threads/pool.ts';
import { locateMembers, type MemberRanges, type ScanOffence } from '../../../src/protocol/frames/envelope.ts';
import { answerUpdate } from '../../../src/store/redis/evaluate-update.ts';

interface Scan {
  readonly bytes: ArrayBufferLike;
  readonly resolve: (places: MemberRanges | ScanOffence) => void;
  readonly reject: (error: Error) => void;
}

export class FakePool implements Pool {
  readonly #scans: Scan[] = [];

  /** Frames that are being scanned. */
  get scanCount(): number {
    return this.#scans.length;
  }

  scanFrame(bytes: ArrayBufferLike): Promise<MemberRanges | ScanOffence> {
    return new Promise((resolve, reject) => this.#scans.push({ bytes, resolve, reject }));
  }

  async evaluateAlerts(inputs: readonly AlertInput[], nowMs: number): Promise<readonly AlertVerdict[]> {
    return evaluateAlerts(inputs, nowMs);
  }

  async evaluateUpdate(task: UpdateTask): Promise<UpdateAnswer> {
    return answerUpdate(task);
  }

  /** Ends the oldest scan. */
  finishScan(): void {
    const { bytes, resolve } = this.#take(0);
    resolve(locateMembers(new Uint8Array(bytes)));
  }

  /** Ends the newest scan before all others. */
  finishNewestScan(): void {
    const { bytes, resolve } = this.#take(this.#scans.length - 1);
    resolve(locateMembers(new Uint8Array(bytes)));
  }

  /** Fails the oldest scan, as if its thread had died. */
  failScan(): void {
    this.#take(0).reject(new Error('the thread ended'));
  }

  async close(): Promise<void> {
    while (this.#scans.length > 0) this.failScan();
  }

  #take(index: number): Scan {
    const [scan] = this.#scans.splice(index, 1);
    if (scan === undefined) throw new Error('No frame is away');
    return scan;
  }
}
