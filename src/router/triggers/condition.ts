// Conditions of triggers: a function that decides, for each event, whether the target is called (T8).
//
// Only a literal `false` is a no. A condition that fails, takes over 5 s or is not registered also prevents the call,
// and that is counted and logged, so that no event is left out in silence.

import { idOffence } from '../../protocol/frames/limits.ts';
import { RAW_NULL } from '../../protocol/json/byte-string.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import type { Cause } from '../builtin.ts';
import { errorLine, type Outcome } from '../calls/call.ts';
import { callLocally } from '../calls/call-locally.ts';
import type { RouterContext } from '../context.ts';
import { firingRefusal } from '../restricted/firing-rate.ts';
import { isRestricted, type OfTrigger } from '../restricted/reach.ts';

/** `failed`: the answer of the condition is unknown. */
export type ConditionVerdict = 'pass' | 'skip' | 'failed';

export interface ConditionQuestion extends Cause, OfTrigger {
  readonly functionId: string;
  /** The event. */
  readonly payload: Payload;
  /** A stream client causes it. */
  readonly isForRestricted?: boolean | undefined;
}

const CONDITION_TIMEOUT_MS = 5_000;

/** Calls `done` once, at once or later; `error`: why the condition failed. */
export function askCondition(
  context: RouterContext,
  question: ConditionQuestion,
  done: (verdict: ConditionVerdict, error: string | undefined) => void,
): void {
  const refusal = firingRefusal(context, question.binding?.owner, question.functionId);
  if (refusal !== undefined) return done('failed', `Condition ${question.functionId}: ${refusal.line}`);
  // A connection of a restricted port may ask itself about its own triggers.
  const decides = !isRestricted(context, question);
  callLocally(context, { ...question, decides, timeoutMs: CONDITION_TIMEOUT_MS }, (outcome) => {
    const error = failureOf(outcome);
    if (error !== undefined) {
      context.counters.count('triggers.condition_failed');
      context.logger.warn('A condition failed: the function it guards is not called', {
        condition_function_id: question.functionId,
        trigger_type: question.binding?.type ?? question.trigger?.type,
        error,
      });
      done('failed', `Condition ${question.functionId}: ${error}`);
    } else if (outcome.result?.asText() === 'false') {
      context.counters.count('triggers.skipped');
      done('skip', undefined);
    } else done('pass', undefined);
  });
}

function failureOf({ error, result }: Outcome): string | undefined {
  if (error !== undefined) return errorLine(error.asText() ?? RAW_NULL);
  return result !== undefined && result.asText() === undefined ? 'its result is not JSON' : undefined;
}

/** The condition that a trigger's config names, or what is wrong with it. Null counts as absent. */
export function conditionOf(config: unknown): { functionId?: string; offence?: string } {
  if (typeof config !== 'object' || config === null || !Object.hasOwn(config, KEY)) return {};
  const functionId: unknown = Reflect.get(config, KEY);
  if (functionId === null) return {};
  if (typeof functionId !== 'string') {
    const found = Array.isArray(functionId) ? 'an array' : `a value of type ${typeof functionId}`;
    return { offence: `The ${KEY} must be the id of a function, found ${found}` };
  }
  const offence = idOffence(functionId);
  return offence === undefined ? { functionId } : { offence: `The ${KEY} ${offence}` };
}

const KEY = 'condition_function_id';
