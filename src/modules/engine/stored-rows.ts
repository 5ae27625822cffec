// Reads the rows that the engine keeps in the store for itself.

import { runCommand, type Store } from '../../store/thread/contract.ts';

/** Every row, page by page. */
export async function* storedRows(store: Store, command: string, pageSize: number): AsyncIterable<unknown> {
  for (let offset = 0; ; offset += pageSize) {
    const rows = await runCommand(store, command, { offset, limit: pageSize });
    if (!Array.isArray(rows)) throw new Error(`${command} did not answer with a list`);
    yield* rows;
    if (rows.length < pageSize) return;
  }
}
