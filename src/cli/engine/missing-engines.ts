// Answers for all engines of a cluster name the engines that gave none. A list that lacks theirs must not look whole.

import { isRecord, recordsIn, textIn } from '../text/records.ts';

export class MissingEngines {
  readonly #reasons = new Map<string, string>();

  note(answer: unknown): void {
    if (!isRecord(answer) || !('missing_engines' in answer)) return;
    for (const missing of recordsIn(answer, 'missing_engines')) {
      this.#reasons.set(textIn(missing, 'engine'), textIn(missing, 'reason'));
    }
  }

  /** A sentence for each. */
  get warnings(): string[] {
    return [...this.#reasons].map(
      ([engine, reason]) => `The engine ${engine} gave no answer, and what it has is missing here: ${reason}`,
    );
  }
}
