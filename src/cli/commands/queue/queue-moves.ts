// The result of moving dead letters: how many moved, failed, and no longer existed.

import { EXIT, type ExitCode } from '../../kernel/exit-codes.ts';
import type { Output } from '../../text/output.ts';
import type { BulkOutcome } from './bulk-work.ts';

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
