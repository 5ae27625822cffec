// Runs one command of a store with JSON input, and reads its outcome.

import type { Store, StoreReply } from '../../../src/store/thread/contract.ts';

export interface CommandResult extends Omit<StoreReply, 'result'> {
  /** The result as JSON text; `undefined` if there is none. */
  readonly text: string | undefined;
  readonly value: unknown;
}

/** Runs one command with JSON text as its input. */
export function runText(store: Store, command: string, input: string, wantsEvents = true): Promise<CommandResult> {
  return new Promise((resolve) => {
    store.run(
      command,
      Buffer.from(input),
      (reply) => {
        const text = reply.result && Buffer.from(reply.result).toString('utf8');
        const { error, events } = reply;
        const kept = events?.map((event) => ({ ...event, body: Buffer.from(event.body) }));
        resolve({
          text,
          value: text === undefined ? undefined : JSON.parse(text),
          ...(error && { error }),
          ...(kept && { events: kept }),
        });
      },
      { wantsEvents },
    );
  });
}

export function run(store: Store, command: string, input: unknown): Promise<CommandResult> {
  return runText(store, command, JSON.stringify(input));
}
