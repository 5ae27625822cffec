// The records of producers and handlers outside of the engine: receipts, starts and ends, to compare after a crash.

import type { Frame, RawWorker } from '../clients/raw-worker.ts';
import { waitFor } from '../wait-for.ts';
import { deadLettersOf, enqueue, statsOf } from './queue-engine.ts';

export class JobLedger {
  /** Receipts that a producer has received. */
  readonly receipts = new Set<string>();
  /** How often a handler was started, by receipt. */
  readonly starts = new Map<string, number>();
  /** Receipts whose handler has answered. */
  readonly ends = new Set<string>();
  /** Receipts of jobs that ran with a later attempt. */
  readonly retried = new Set<string>();

  /**
   * Runs `count` producers, each of which sends its next job after the receipt of the last one, until the connection ends.
   * `goesOn`: after a refusal too.
   */
  produce(worker: RawWorker, functionId: string, count: number, { goesOn = false } = {}): void {
    let isOver = false;
    worker.socket.once('close', () => {
      isOver = true;
    });
    for (let producer = 0; producer < count; producer++) {
      const send = (job: number): void => {
        if (isOver) return;
        enqueue(worker, functionId, { producer, job }).then(
          ({ result }) => {
            const receipt = (result as { messageReceiptId?: string } | undefined)?.messageReceiptId;
            if (receipt !== undefined) this.receipts.add(receipt);
            if (receipt !== undefined || goesOn) send(job + 1);
          },
          // The connection ended: the fate of the job is unknown, and no producer has a receipt.
          () => {},
        );
      };
      send(0);
    }
  }

  /** Sends a new job until it is accepted, and waits until it has run: earlier receipts prove nothing. */
  async passes(worker: RawWorker, functionId: string, timeoutMs: number): Promise<void> {
    const receipt = await waitFor(
      'a job is taken again',
      async () => {
        const { result } = await enqueue(worker, functionId, {});
        return (result as { messageReceiptId?: string } | undefined)?.messageReceiptId;
      },
      timeoutMs,
    );
    this.receipts.add(receipt);
    await waitFor('jobs are run again', () => this.ends.has(receipt), timeoutMs);
  }

  async serve(worker: RawWorker, functionId: string): Promise<void> {
    await worker.serve(functionId, (_data, { metadata }: Frame) => {
      const { messageReceiptId: receipt, attempt } = metadata as { messageReceiptId: string; attempt: number };
      this.starts.set(receipt, (this.starts.get(receipt) ?? 0) + 1);
      if (attempt > 1) this.retried.add(receipt);
      this.ends.add(receipt);
      return null;
    });
  }

  /** Receipts whose job has not run and is not a dead letter. */
  async lost(worker: RawWorker): Promise<string[]> {
    await waitFor('the queue is empty', async () => (await statsOf(worker)).depth === 0, 60_000);
    const dead = new Set((await deadLettersOf(worker)).map(({ id }) => id));
    return [...this.receipts].filter((receipt) => !this.ends.has(receipt) && !dead.has(receipt));
  }
}
