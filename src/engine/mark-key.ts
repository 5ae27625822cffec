// The key with which this engine recognises work that log triggers caused. It is kept with the data, so that jobs of an
// earlier run, and workers that kept running, are recognised, too (DECISIONS 37).

import type { RouterContext } from '../router/context.ts';
import type { StoreRegistry } from '../store/directory/registry.ts';
import { runCommand } from '../store/thread/contract.ts';

const NAME = 'log_marks';

/**
 * Uses the key of an earlier run, or stores the key of this run. Called before any trigger can fire. An engine without
 * a store on disk uses a new key for each run; a configured key, or one that a cluster agreed on, is never stored.
 */
export async function keepMarkKey(
  { quietTraces, settings, logger }: RouterContext,
  { durable }: Pick<StoreRegistry, 'durable'>,
): Promise<void> {
  if (settings.markKey !== undefined || settings.isInCluster === true || durable === undefined) return;
  try {
    const kept = await runCommand(durable, 'secrets::keep', { name: NAME, value: quietTraces.key });
    quietTraces.adopt(keyIn(kept));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const text = 'The key of the marks of log triggers could not be kept: after a restart a handler may fire itself';
    logger.warn(text, { reason });
  }
}

function keyIn(kept: unknown): string {
  const value: unknown = typeof kept === 'object' && kept !== null && 'value' in kept ? kept.value : undefined;
  if (typeof value === 'string' && value !== '') return value;
  throw new Error('the stored key has an unexpected format');
}
