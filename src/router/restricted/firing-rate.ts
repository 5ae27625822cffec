// How often the triggers of a restricted connection call functions of the engine. Such a function can cause the next
// event, as `publish` does: with a hundred triggers that target it, each step of a chain would have a hundred times as
// many calls as the one before, and one message of the connection would stop the engine. So these calls have the rate
// of the messages of the connection, counted apart from them: events of others must not use up its own calls.

import { Refusal } from '../../core/calls/refusal.ts';
import type { Binding } from '../builtin.ts';
import type { RouterContext } from '../context.ts';

const TEXT = 'The triggers of this connection call functions of the engine more often than it may send messages';

/** Why the trigger must not call the function now. Cheap, because it is asked for every firing of a chain. */
export function firingRefusal(
  { functions, clock, counters }: RouterContext,
  owner: Binding['owner'],
  functionId: string,
): Refusal | undefined {
  const rate = owner?.guard?.rules.firingRate;
  if (rate === undefined || functions.get(functionId)?.kind !== 'builtin') return undefined;
  if (rate.take(clock.monotonicMs()) === 'ok') return undefined;
  counters.count('triggers.rate_limited');
  return new Refusal('RATE_LIMITED', TEXT);
}
