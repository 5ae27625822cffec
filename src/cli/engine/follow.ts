// Polls the engine over one connection, and over a new one when it is lost. The first connection must succeed; a later
// loss is reported, and the command reconnects until the user stops it.

import type { Context } from '../kernel/command.ts';
import { CliFailure } from '../kernel/failures.ts';
import type { CONNECTION_FLAGS } from '../kernel/shared-flags.ts';
import { type EngineConnection, withEngine } from './connection.ts';

type FollowContext = Pick<Context<typeof CONNECTION_FLAGS>, 'flags' | 'output' | 'terminal'>;

const RECONNECT_MS = 1_000;

/** Calls `poll` every `intervalMs`, never twice at a time. Ends only by a failure that is not a lost connection. */
export async function follow(
  context: FollowContext,
  intervalMs: number,
  poll: (engine: EngineConnection) => Promise<void>,
): Promise<never> {
  let isLost = false;
  for (let hasConnected = false; ; ) {
    try {
      await withEngine(context, async (engine) => {
        if (isLost) context.output.note(`Reconnected to ${engine.address}.`);
        isLost = false;
        hasConnected = true;
        for (;;) {
          await poll(engine);
          await Promise.race([engine.lost, pause(intervalMs)]);
        }
      });
    } catch (error) {
      const isLoss = error instanceof CliFailure && error.report.code === 'ENGINE_UNREACHABLE';
      if (!hasConnected || !isLoss) throw error;
      if (!isLost) context.output.note(`${error.message} Reconnecting.`);
      isLost = true;
      await pause(RECONNECT_MS);
    }
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
