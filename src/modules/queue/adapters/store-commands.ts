// Commands of the store as promises, for rare operations.

import { Refusal } from '../../../core/calls/refusal.ts';
import type { MovesAnswer } from '../../../core/queue/shapes.ts';
import { ERROR_CODES, type ErrorCode } from '../../../protocol/frames/errors.ts';
import type { ErrorBody } from '../../../protocol/frames/frames.ts';
import { parseAs } from '../../../store/commands/queue/marks.ts';
import type { Store } from '../../../store/thread/contract.ts';

export function runCommand<T = void>(
  store: Store,
  command: string,
  input: Uint8Array,
  isShape?: (value: unknown) => value is T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    store.run(command, input, ({ result, error }) => {
      if (error !== undefined) reject(refusalOf(error));
      else resolve(isShape === undefined ? (undefined as T) : parseAs(result ?? Buffer.from('null'), isShape));
    });
  });
}

/** The answer as bytes, valid indefinitely. */
export function readCommand(store: Store, command: string, input: Uint8Array): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    store.run(command, input, ({ result, error }) => {
      if (error !== undefined) reject(refusalOf(error));
      else resolve(result);
    });
  });
}

/** Runs bounded commands until nothing is left to move. Resolves with how many moved. */
export async function runMoves(next: (beforeDeath: number | undefined) => Promise<MovesAnswer>): Promise<number> {
  let moved = 0;
  for (let beforeDeath: number | undefined; ; ) {
    const answer = await next(beforeDeath);
    moved += answer.moved;
    if (!answer.hasMore) return moved;
    beforeDeath = answer.beforeDeath;
  }
}

export function refusalOf({ code, message }: ErrorBody): Refusal {
  return new Refusal(Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : 'STORAGE_UNAVAILABLE', message);
}
