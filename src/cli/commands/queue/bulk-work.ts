// Work on many items with a rate limit, a progress line with the remaining time, and the counts at the end.

import { EXIT, type ExitCode, usageFailure } from '../../kernel/failures.ts';
import type { Output } from '../../text/output.ts';
import { ProgressLine, type ProgressTarget } from '../../text/progress-line.ts';

export interface BulkCounts {
  done: number;
  failed: number;
  skipped: number;
}

export interface BulkWork<Item> {
  readonly items: readonly Item[];
  /** Items per second; `undefined`: as fast as the engine answers. */
  readonly ratePerSecond: number | undefined;
  /** `redriven` */
  readonly word: string;
  /** Whether the item existed. An exception counts as a failure. */
  work(item: Item): Promise<boolean>;
}

export interface BulkOutcome extends BulkCounts {
  readonly firstError: unknown;
}

const AT_ONCE = 32;

export async function workThrough<Item>(
  { items, ratePerSecond, word, work }: BulkWork<Item>,
  target: ProgressTarget,
): Promise<BulkOutcome> {
  const { terminal } = target;
  const counts: BulkCounts = { done: 0, failed: 0, skipped: 0 };
  const progress = new ProgressLine({ total: items.length, word }, target);
  const startedMs = terminal.elapsedMs();
  let started = 0;
  let firstError: unknown;
  const lane = async (): Promise<void> => {
    while (started < items.length) {
      const item = items[started];
      const dueMs = ratePerSecond === undefined ? 0 : startedMs + (started * 1_000) / ratePerSecond;
      started++;
      if (item === undefined) return;
      await waitUntil(dueMs, terminal);
      try {
        if (await work(item)) counts.done++;
        else counts.skipped++;
      } catch (error) {
        counts.failed++;
        firstError ??= error;
      }
      showCounts(progress, counts);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, lane));
  progress.end();
  return { ...counts, firstError };
}

function showCounts(progress: ProgressLine, { done, failed, skipped }: BulkCounts): void {
  const troubles = `${failed > 0 ? `, ${failed} failed` : ''}${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  progress.update(done + failed + skipped, troubles);
}

/** `50/s`: the largest number per second. */
export function readRate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rate = Number(/^(\d{1,6}(?:\.\d{1,3})?)\/s$/.exec(text)?.[1] ?? 0);
  if (rate > 0) return rate;
  throw usageFailure(`--rate is '${text}': expected a rate such as 50/s or 0.5/s.`);
}

async function waitUntil(dueMs: number, terminal: ProgressTarget['terminal']): Promise<void> {
  const delayMs = dueMs - terminal.elapsedMs();
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** `word`: `redriven`, `discarded`. Exit code 1 if any failed. */
export function printOutcome(
  { output }: { readonly output: Output },
  word: string,
  { done, failed, skipped, firstError }: BulkOutcome,
): ExitCode {
  if (output.jsonAsked) output.printJson({ [word]: done, failed, skipped });
  else output.note(`${done} ${word}, ${failed} failed, ${skipped} skipped`);
  if (failed === 0) return EXIT.done;
  output.warn(`the first failure: ${firstError instanceof Error ? firstError.message : String(firstError)}`);
  return EXIT.failed;
}
