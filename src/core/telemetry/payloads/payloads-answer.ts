// The input and the output of one call as they are answered, and why they are missing where they are.

import { isOwnFunction } from '../records/own-functions.ts';
import type { SpanRecord } from '../records/records.ts';
import { isChosen, type PayloadMode, PayloadRules, type PayloadSettings } from './payload-rules.ts';
import type { StoredPair } from './payload-store.ts';
import type { StoredPayload } from './stored-payload.ts';

/**
 * `not_a_call`: the span is no call. `of_the_engine`: a function of the engine itself, of which nothing is kept.
 * `off`, `succeeded`, `not_chosen`: the mode of the function excludes the call. `running`: both are kept once it ends.
 * `gone`: there was no room, or the call began before the mode was set.
 */
export type MissingPayload = 'not_a_call' | 'of_the_engine' | 'off' | 'succeeded' | 'not_chosen' | 'running' | 'gone';

export interface PayloadsAnswer {
  function_id: string | null;
  /** The present mode of the function. */
  mode: PayloadMode;
  input: StoredPayload | null;
  /** Null: the call has no result, or nothing is kept. */
  output: StoredPayload | null;
  missing: MissingPayload | null;
}

/** `parent`: a worker's span of a call lies below the engine's. */
export function payloadsAnswer(
  span: SpanRecord,
  parent: SpanRecord | undefined,
  settings: PayloadSettings,
  pairOf: (span: SpanRecord) => StoredPair | undefined,
): PayloadsAnswer {
  const call = isCall(span) ? span : span.name.startsWith(EXECUTE) && parent && isCall(parent) ? parent : undefined;
  const functionId = call?.name.slice(CALL.length) ?? null;
  const mode = functionId === null ? 'off' : new PayloadRules(settings.rules).modeOf(functionId);
  const pair = call && pairOf(call);
  const missing = pair === undefined ? missingOf(call, mode, settings) : null;
  return { function_id: functionId, mode, input: pair?.input ?? null, output: pair?.output ?? null, missing };
}

function missingOf(call: SpanRecord | undefined, mode: PayloadMode, settings: PayloadSettings): MissingPayload {
  if (call === undefined) return 'not_a_call';
  if (isOwnFunction(call.name.slice(CALL.length))) return 'of_the_engine';
  if (mode === 'off') return 'off';
  if (call.pending === true) return 'running';
  if (call.status === 'error' || mode === 'all') return 'gone';
  if (mode === 'errors') return 'succeeded';
  return isChosen(call.trace_id, settings.samplingRatio) ? 'gone' : 'not_chosen';
}

const CALL = 'call ';
const EXECUTE = 'execute ';

function isCall({ name }: SpanRecord): boolean {
  return name.startsWith(CALL);
}
