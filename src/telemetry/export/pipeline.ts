// From one export queue to one collector, for one signal: when a batch is sent, what happens to a failed batch, and
// what is reported about it. A failing or slow collector never delays the code that adds (O1): the queue fills, the
// newest records are dropped and counted, and one line is logged for each change (O2).

import { ExportQueue, type ExportQueueLimits, retryDelayMs } from '../../core/telemetry/records/export-queue.ts';
import type { Clock } from '../../effects/clock.ts';

export type Signal = 'spans' | 'logs' | 'metrics';

/** The destination of batches. Never rejects. */
export interface Destination<Item> {
  /** The address for people to read. */
  readonly address: string;
  send(batch: readonly Item[]): Promise<SendOutcome>;
  close(): Promise<void>;
}

export type SendOutcome =
  | { readonly kind: 'sent' }
  /** `mayRetry`: the collector may accept the same batch later. */
  | { readonly kind: 'failed'; readonly mayRetry: boolean; readonly reason: string };

export interface ExportState {
  /** `failing`: the last batch was refused. `dropping`: the queue was full since it was last half empty. */
  readonly state: 'working' | 'failing' | 'dropping';
  readonly reason?: string;
}

/** One change of one signal's state, for one line of the log. */
export interface ExportChange extends ExportState {
  readonly signal: Signal;
  readonly address: string;
}

/** Receives losses and changes. */
export interface ExportReports {
  dropped(signal: Signal, reason: DropReason, count: number): void;
  changed(change: ExportChange): void;
}

export type DropReason = 'export_queue_full' | 'export_rejected' | 'export_unsent_at_stop';

export interface PipelineOptions<Item> {
  readonly signal: Signal;
  readonly limits: ExportQueueLimits;
  /** How long an item waits for others at most. */
  readonly intervalMs: number;
  readonly destination: Destination<Item>;
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly reports: ExportReports;
}

export class Pipeline<Item> {
  readonly #options: PipelineOptions<Item>;
  readonly #queue: ExportQueue<Item>;
  #state: ExportState = { state: 'working' };
  #failures = 0;
  #cancelTimer: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: PipelineOptions<Item>) {
    this.#options = options;
    this.#queue = new ExportQueue(options.limits);
  }

  get state(): ExportState {
    return this.#state;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  add(item: Item, bytes: number): void {
    if (this.#isStopped || !this.#queue.push(item, bytes)) {
      this.#options.reports.dropped(this.#options.signal, 'export_queue_full', 1);
      this.#change({ state: 'dropping', reason: this.#state.reason ?? 'the collector is too slow' });
      return;
    }
    if (this.#sending !== undefined || this.#failures > 0) return;
    if (this.#queue.hasBatch) this.#send();
    else this.#sendIn(this.#options.intervalMs);
  }

  /** Sends what waits, for at most that long; what is left then is dropped and counted. */
  async stop(withinMs: number): Promise<void> {
    this.#isStopped = true;
    let isLate = false;
    let cancelTimer = () => {};
    const late = new Promise<void>((resolve) => {
      cancelTimer = this.#options.clock.after(withinMs, () => {
        isLate = true;
        resolve();
      });
    });
    while (!isLate && this.#queue.length > 0) {
      this.#failures = 0;
      this.#send();
      await Promise.race([this.#sending, late]);
      // A collector that refuses it now will not accept it in the second that is left.
      if (this.#failures > 0) break;
    }
    this.#cancelTimer?.();
    const left = this.#queue.clear();
    if (left > 0) this.#options.reports.dropped(this.#options.signal, 'export_unsent_at_stop', left);
    await Promise.race([this.#options.destination.close(), late]);
    cancelTimer();
  }

  #sendIn(delayMs: number): void {
    this.#cancelTimer ??= this.#options.clock.after(delayMs, () => this.#send());
  }

  #send(): void {
    if (this.#sending !== undefined) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#sending = this.#sendBatch().then(() => {
      this.#sending = undefined;
      if (this.#queue.length === 0 || this.#isStopped) return;
      if (this.#failures > 0) this.#sendIn(retryDelayMs(this.#failures));
      else if (this.#queue.hasBatch) this.#send();
      else this.#sendIn(this.#options.intervalMs);
    });
  }

  async #sendBatch(): Promise<void> {
    const { destination, reports, signal, limits } = this.#options;
    const batch = this.#queue.take();
    const outcome = await destination.send(batch);
    const mayRetry = outcome.kind === 'failed' && outcome.mayRetry;
    this.#queue.settle(mayRetry ? 'again' : 'gone');
    if (outcome.kind === 'sent') {
      this.#failures = 0;
      const isDraining = this.#state.state === 'dropping' && this.#queue.length > limits.items / 2;
      if (!isDraining) this.#change({ state: 'working' });
      return;
    }
    if (mayRetry) this.#failures += 1;
    else reports.dropped(signal, 'export_rejected', batch.length);
    this.#change({ state: this.#state.state === 'dropping' ? 'dropping' : 'failing', reason: outcome.reason });
  }

  /** One report for each change of the state, not for each reason. */
  #change(next: ExportState): void {
    const isNew = next.state !== this.#state.state;
    this.#state = next;
    const { signal, destination, reports } = this.#options;
    if (isNew) reports.changed({ signal, address: destination.address, ...next });
  }
}
