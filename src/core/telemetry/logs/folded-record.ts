// What a record says, in lower case. Words of a query look at one record after the other: each is folded once, however
// many words there are, since that takes far longer than to look for a word in it.

import type { LogRecord } from '../records/records.ts';

export class FoldedRecord {
  #record: LogRecord | undefined;
  #body: string | undefined;
  #values: readonly string[] | undefined;

  turnTo(record: LogRecord): void {
    if (record === this.#record) return;
    this.#record = record;
    this.#body = undefined;
    this.#values = undefined;
  }

  get body(): string {
    this.#body ??= this.#record?.body.toLowerCase() ?? '';
    return this.#body;
  }

  /** Of its attributes; what is no text as JSON. */
  get values(): readonly string[] {
    this.#values ??= Object.values(this.#record?.attributes ?? {}).map((value) =>
      (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toLowerCase(),
    );
    return this.#values;
  }
}
