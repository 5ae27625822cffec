// What a worker that provides a trigger type says about a trigger of another engine's worker. Modules are the same on
// all engines, so their verdicts are known everywhere; a worker provides its type on one engine alone.

import { isJudgedAnswer } from '../../generated/cluster-values.ts';
import { parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Binding } from '../builtin.ts';
import type { RouterContext } from '../context.ts';
import { askEngine, parseAnswer } from './ask-engines.ts';
import type { RemoteOwner } from './remote-owner.ts';

export const TRIGGERS_JUDGED = 'engine::triggers::judged';

/** What that engine answers: whether it has the trigger, and knows that the type is provided elsewhere. */
export interface JudgedAnswer {
  readonly known: boolean;
}

const AGAIN_MS = 1_000;

/** Repeats it until the engine of the owner knows it, unless the trigger is gone or another verdict came. */
export function reportVerdict(
  context: RouterContext,
  binding: Binding,
  owner: RemoteOwner,
  error: RawJson | undefined,
): void {
  const id = owner.ownIdOf(binding.id);
  const verdict = rawJson({ id, ...(error !== undefined && { error: parseRawJson(error) }) });
  const { state, error: reason } = binding;
  const report = async (): Promise<void> => {
    const { result } = await askEngine(context, owner.engine, TRIGGERS_JUDGED, Payload.ofText(verdict));
    const answer = result && parseAnswer(result);
    const isKnown = isJudgedAnswer(answer) && answer.known;
    const isLast =
      context.triggers.binding(binding.id) === binding && binding.state === state && binding.error === reason;
    if (!isKnown && isLast && !context.isStopped) context.clock.after(AGAIN_MS, () => void report());
  };
  void report();
}
